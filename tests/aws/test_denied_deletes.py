"""SQS denies DeleteMessage for a while: no copy joins its original, nothing that never ran is given up, and each message keeps its ladder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from recoverable import Delayed, Failed, Immediate, Message, RateLimit, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.extensions import Observe
from recoverable.timeouts import Timeouts
from recoverable_local.testing import Refused, SqsWorld, Unreachable
from recoverable_local.timeouts import SqliteStore

MINUTE, HOUR, EVER = 60.0, 3_600.0, 1e9
DEFAULT = Recoverability(failed=Failed("errors"))
TEN = [f"bad {number}" for number in range(10)]


def ladder(immediate: int, delayed: int, by: float = 10, **more: Any) -> Recoverability:
    """Return a ladder with rounds so many seconds apart."""
    return Recoverability(Immediate(immediate), Delayed(delayed, timedelta(seconds=by)), Failed("errors"), **more)


def deny(world: SqsWorld, seconds: float, *, after: float = 0) -> None:
    """Take the right to delete from the function's role, by which the event source mapping deletes too."""
    world.fail("delete_message_batch", Refused("AccessDenied"), after=after, during=seconds)
    world.fail("settle", Unreachable(), after=after, during=seconds)


class Handler:
    """Fails for so many seconds on each message that does not begin with "good", sends something for one that does, and notes when each ran."""

    def __init__(self, world: SqsWorld, fails_for: float = EVER) -> None:
        self._world, self._start, self._fails_for = world, world.now, fails_for
        self.at: dict[str, list[int]] = {}

    def __call__(self, message: Message) -> None:
        seconds = (self._world.now - self._start).total_seconds()
        self.at.setdefault(message.text, []).append(round(seconds))
        if message.text.startswith("good"):
            message.send("out", "done")
        elif seconds < self._fails_for:
            raise ValueError("no")

    @property
    def runs(self) -> dict[str, int]:
        """Return how often it ran on each body."""
        return {body: len(at) for body, at in self.at.items()}


def run(
    world: SqsWorld, recoverability: Recoverability, *bodies: str, for_: float | None = None, processes: int = 1,
    fails_for: float = EVER, batch_size: int = 10, **settings: Any,
) -> Handler:  # fmt: skip
    """Serve a queue with so many processes, send these to it, and run."""
    handler = Handler(world, fails_for)
    endpoint = SqsEndpoint(handler, recoverability, **settings)
    world.serve("jobs", endpoint, concurrency=processes, batch_size=batch_size, recursive_loop="Allow")
    for body in bodies:
        world.send("jobs", body)
    world.run(for_=for_)
    return handler


def given_up(world: SqsWorld) -> Counter[tuple[str, str | None]]:
    """Return how often each body is in the error queue, and why; None for SQS's own dead letters."""
    return Counter((seen.body, seen.exception_type) for seen in world.queue("errors"))


def copies(world: SqsWorld) -> int:
    """Return how many copies were sent to the queue that they came from."""
    return sum(entry.what == "sent" and entry.queue == "jobs" and entry.invocation > 0 for entry in world.timeline())


@pytest.mark.parametrize(
    ("recoverability", "seconds", "runs"),
    [(ladder(0, 1), 200, 2), (DEFAULT, 15 * MINUTE, 24), (DEFAULT, HOUR, 24), (ladder(0, 0), 200, 1)],
    ids=["0/1", "default", "default, an hour", "0/0"],
)
def test_a_failing_message_has_the_runs_of_its_ladder_and_one_error_copy(
    sqs_world: SqsWorld, recoverability: Recoverability, seconds: float, runs: int
) -> None:
    deny(sqs_world, seconds)

    handler = run(sqs_world, recoverability, "bad")

    assert (handler.runs, given_up(sqs_world)) == ({"bad": runs}, {("bad", "ValueError"): 1})


def test_with_the_counter_in_headers_too(sqs_world: SqsWorld) -> None:
    deny(sqs_world, 200)

    handler = run(sqs_world, ladder(1, 1), "bad", counter="header")

    assert (handler.runs, given_up(sqs_world)) == ({"bad": 4}, {("bad", "ValueError"): 1})


def test_each_process_makes_the_copies_of_one_call_and_none_after(sqs_world: SqsWorld) -> None:
    deny(sqs_world, EVER)

    run(sqs_world, DEFAULT, *TEN, for_=HOUR)

    assert copies(sqs_world) == 10


def test_ten_failing_messages_that_are_never_deleted_are_in_the_error_queue_four_times_at_most(
    sqs_world: SqsWorld,
) -> None:
    deny(sqs_world, EVER)

    run(sqs_world, DEFAULT, *TEN)

    by_body = Counter(seen.body for seen in sqs_world.queue("errors"))
    with_reason = {body for body, reason in given_up(sqs_world) if reason}
    assert (max(by_body.values()) <= 4, with_reason) == (True, set(TEN))


@pytest.mark.parametrize("alone", [True, False])
def test_a_good_message_has_the_one_dead_letter_that_plain_lambda_gives_it(sqs_world: SqsWorld, *, alone: bool) -> None:
    deny(sqs_world, EVER)

    run(sqs_world, DEFAULT, *(["good"] if alone else ["bad", "good"]))

    assert [key for key in given_up(sqs_world).elements() if key[0] == "good"] == [("good", None)]


def test_once_denied_a_good_message_runs_once_and_sends_once(sqs_world: SqsWorld) -> None:
    deny(sqs_world, 15 * MINUTE)
    sqs_world.create_queue("out")
    handler = Handler(sqs_world)
    sqs_world.serve("jobs", SqsEndpoint(handler, ladder(0, 0)), concurrency=1, recursive_loop="Allow")
    sqs_world.send("jobs", "bad")
    sqs_world.run(for_=MINUTE)
    sqs_world.send("jobs", "good")
    sqs_world.run()

    assert (handler.runs["good"], len(sqs_world.queue("out")), sqs_world.queue("jobs")) == (1, 1, [])


def test_while_the_rate_is_limited_no_copies_gather(sqs_world: SqsWorld) -> None:
    deny(sqs_world, 200)

    run(sqs_world, ladder(0, 1, rate_limit=RateLimit(5)), *TEN, for_=200)

    assert len(sqs_world.queue("jobs")) <= 20


def test_while_the_rate_is_limited_nothing_that_never_ran_is_given_up(sqs_world: SqsWorld) -> None:
    deny(sqs_world, HOUR)

    handler = run(sqs_world, ladder(0, 0, rate_limit=RateLimit(1)), *TEN, fails_for=HOUR)

    assert (set(handler.runs), set(given_up(sqs_world)) - {("bad 0", "ValueError")}) == (set(TEN), set())


def test_one_denial_changes_nothing_but_a_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    def told(world: SqsWorld) -> list[tuple[str, str, str, timedelta]]:
        run(world, ladder(1, 2), *TEN[:3], "good")
        whole = [
            (each.what, each.queue, each.detail, each.at) for each in world.timeline() if each.what != "call failed"
        ]
        return sorted(each for each in whole if each[0] != "deleted")

    quiet, denied = SqsWorld(), SqsWorld()
    expected = told(quiet)
    caplog.clear()
    denied.fail("delete_message_batch", Refused("AccessDenied"), nth=1)

    assert told(denied) == expected
    assert sum("SQS denies DeleteMessage" in record.message for record in caplog.records) == 1


def test_a_copy_that_is_not_yet_due_waits_in_its_place_and_runs_when_it_is(sqs_world: SqsWorld) -> None:
    deny(sqs_world, EVER, after=10 * MINUTE)
    handler = Handler(sqs_world)
    sqs_world.serve("jobs", SqsEndpoint(handler, ladder(0, 1, by=35 * MINUTE)), concurrency=1, recursive_loop="Allow")
    sqs_world.send("jobs", "bad")
    sqs_world.run(for_=12 * MINUTE)
    sqs_world.send("jobs", "bad too")
    sqs_world.run(for_=HOUR)

    assert handler.at["bad"] == [0, 35 * MINUTE]


def test_no_delay_is_stored(sqs_world: SqsWorld) -> None:
    held: list[str] = []

    class Counted(Timeouts):
        def hold(self, entry: Mapping[str, Any], **more: Any) -> str:
            held.append(entry["MessageBody"])
            return super().hold(entry, **more)

    deny(sqs_world, EVER)
    run(sqs_world, ladder(0, 1, by=HOUR), "bad", "bad too", for_=HOUR, batch_size=1, timeouts=Counted(SqliteStore()))

    assert held == ["bad"]


def test_the_last_delivery_leaves_an_error_copy_with_the_failure_beside_the_dead_letter(sqs_world: SqsWorld) -> None:
    deny(sqs_world, EVER)

    run(sqs_world, ladder(0, 0), "bad", "bad too")

    assert given_up(sqs_world) == {
        ("bad", "ValueError"): 1,
        ("bad", None): 1,
        ("bad too", "ValueError"): 1,
        ("bad too", None): 1,
    }


def test_the_retention_s_end_leaves_an_error_copy_too(sqs_world: SqsWorld) -> None:
    sqs_world.create_queue("errors")
    sqs_world.create_queue("jobs", retention=timedelta(hours=2), visibility_timeout=180)
    deny(sqs_world, EVER)

    run(sqs_world, ladder(0, 1), "bad", for_=3 * HOUR)

    assert given_up(sqs_world) == {("bad", "ValueError"): 1}


def test_an_error_says_each_five_minutes_which_permission_is_missing_on_which_queue(
    sqs_world: SqsWorld, caplog: pytest.LogCaptureFixture
) -> None:
    deny(sqs_world, EVER)

    run(sqs_world, ladder(0, 1), "bad", for_=29 * MINUTE)

    errors = [record.message for record in caplog.records if "DeleteMessage" in record.message]
    assert (len(errors) <= 6, errors[0].startswith("SQS denies DeleteMessage on 'jobs' (")) == (True, True)
    assert errors[0].endswith("Give the function's role the permission sqs:DeleteMessage.")
    assert {record.levelname for record in caplog.records if "DeleteMessage" in record.message} == {"ERROR"}


def test_who_is_told_of_the_error_queue_is_told_once_the_message_is_there(sqs_world: SqsWorld) -> None:
    told: list[tuple[str, bool]] = []
    deny(sqs_world, 200)

    def tell(facts: Any, message: Message) -> None:
        told.append((facts.exception_type, bool(sqs_world.queue("errors"))))

    run(sqs_world, ladder(0, 1), "bad", extensions=(Observe(on_error=tell),))

    assert told == [("ValueError", True)]


@pytest.mark.parametrize("bodies", [("bad", "good"), ("good", "good too")])
def test_without_partial_responses_a_success_that_is_not_deleted_is_reported(
    sqs_world: SqsWorld, caplog: pytest.LogCaptureFixture, bodies: tuple[str, str]
) -> None:
    deny(sqs_world, 15 * MINUTE)
    handler = Handler(sqs_world)
    endpoint = SqsEndpoint(handler, ladder(0, 0), partial_responses=False)
    sqs_world.serve("jobs", endpoint, concurrency=1, recursive_loop="Allow", partial_responses=False)
    sqs_world.send("jobs", "bad first")
    sqs_world.run(for_=MINUTE)
    for body in bodies:
        sqs_world.send("jobs", body)
    sqs_world.run()

    assert "2 of 2 messages of 'jobs' will be redelivered" in caplog.text
    assert (handler.runs["good"], sqs_world.queue("jobs")) == (1, [])


def test_what_several_processes_let_wait_convicts_no_message_that_succeeds() -> None:
    world = SqsWorld()
    deny(world, 900)

    def handle(message: Message) -> None:
        world.spend(3)
        if message.text.startswith("bad") and (world.now - start).total_seconds() < 900:
            raise ValueError("no")

    start, settings = world.now, ladder(0, 0, rate_limit=RateLimit(1))
    world.serve("jobs", SqsEndpoint(handle, settings), concurrency=4, batch_size=1, recursive_loop="Allow")
    for number in range(3):
        world.send("jobs", f"bad {number}")
    world.at(60, lambda: [world.send("jobs", f"good {number}") for number in range(6)])
    world.run(for_=3 * HOUR)

    assert [body for body, kind in given_up(world) if kind is not None and body.startswith("good")] == []
