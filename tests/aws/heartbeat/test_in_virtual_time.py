"""A heartbeat in virtual time: how soon a crash is noticed, what is hidden meanwhile, and what each setting does beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from aws_lambda_powertools.utilities.batch import process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from docs.pages import section
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.extensions import Heartbeat
from recoverable.headers import ATTEMPTS
from recoverable.powertools import RecoverableBatchProcessor
from recoverable.timeouts import Dispatcher, Timeouts
from recoverable_local.testing import Refused, SqsWorld, Throttled, Unreachable, VisibilityExpired
from recoverable_local.timeouts import SqliteStore

MINUTE = 60.0
FUNCTION = timedelta(minutes=15)
TWO_MINUTES = timedelta(minutes=2)

Handler = Callable[[Message], None]


class Runs:
    """A handler that records when it ran, in minutes, and which ends its process at its first run.

    Args:
        world: where it runs.
        takes: minutes of each run.
        dies: whether the first run ends the process.
    """

    def __init__(self, world: SqsWorld, *, takes: float = 1, dies: bool = True) -> None:
        self._world, self._start, self._takes, self._dies = world, world.now, takes, dies
        self.at: list[tuple[str, float]] = []

    def __call__(self, message: Message) -> None:
        self.at.append((message.text, (self._world.now - self._start).total_seconds() / MINUTE))
        self._world.spend(self._takes * MINUTE)
        if self._dies:
            self._dies = False
            self._world.kill()


def served(
    world: SqsWorld,
    handler: Handler,
    bodies: Sequence[str] = ("a",),
    *,
    queue: str = "jobs",
    concurrency: int = 10,
    **settings: Any,
) -> None:
    """Serve a queue by an endpoint, send the messages, and run."""
    error = "errors.fifo" if queue.endswith(".fifo") else "errors"
    ladder = Recoverability(Immediate(1), Delayed(2, timedelta(hours=1)), Failed(error))
    endpoint = SqsEndpoint(handler, ladder, **settings)
    world.serve(queue, endpoint, timeout=FUNCTION, recursive_loop="Allow", batch_size=1, concurrency=concurrency)
    for number, body in enumerate(bodies):
        fifo = queue.endswith(".fifo")
        world.send(queue, body, group_id="g" if fifo else None, deduplication_id=str(number) if fifo else None)
    world.run()


def minutes_until_noticed(heartbeat: timedelta | None, **settings: Any) -> float:
    """Return the minutes between the end of a process and the next run of its message."""
    world = SqsWorld()
    runs = Runs(world, takes=1)
    served(world, runs, extensions=(Heartbeat(heartbeat),) if heartbeat else (), **settings)
    (_, died), (_, again) = runs.at
    return again - died - 1


@pytest.mark.parametrize(
    ("words", "heartbeat"),
    [
        ("none", None),
        ("10 minutes", timedelta(minutes=10)),
        ("2 minutes", TWO_MINUTES),
        ("30 seconds", timedelta(seconds=30)),
    ],
)
def test_a_crash_is_noticed_as_soon_as_the_page_says(words: str, heartbeat: timedelta | None) -> None:
    minutes = round(minutes_until_noticed(heartbeat), 1)

    assert f"| {words} | {minutes:g} |" in section("use/time-outs-and-crashes.md", "## How soon a crash is noticed")


def test_a_crash_before_the_first_call_got_through_waits_for_the_full_time() -> None:
    world = SqsWorld()
    runs = Runs(world)
    world.fail("change_message_visibility_batch", Unreachable(), during=2 * MINUTE)

    served(world, runs, extensions=(Heartbeat(TWO_MINUTES),))

    assert [minute for _, minute in runs.at] == [0, 90]


def test_a_message_whose_handler_takes_longer_than_the_heartbeat_runs_once() -> None:
    world = SqsWorld()
    runs = Runs(world, takes=14, dies=False)

    served(world, runs, ["a", "b"], extensions=(Heartbeat(TWO_MINUTES),))

    assert (runs.at, world.queue("jobs")) == ([("a", 0), ("b", 0)], [])


def test_one_lost_beat_after_the_other_costs_nothing_and_two_in_a_row_neither() -> None:
    world = SqsWorld()
    runs = Runs(world, takes=10, dies=False)
    for nth in (2, 4, 5, 8, 9):
        world.fail("change_message_visibility_batch", Throttled(), nth=nth)

    served(world, runs, extensions=(Heartbeat(TWO_MINUTES),))

    assert runs.at == [("a", 0)]


def test_a_message_whose_beats_are_all_lost_runs_again_beside_itself_and_is_not_lost() -> None:
    world = SqsWorld()
    runs = Runs(world, takes=10, dies=False)
    world.fail("change_message_visibility_batch", Throttled(), after=10, during=4 * MINUTE)

    served(world, runs, extensions=(Heartbeat(TWO_MINUTES),))

    assert (runs.at[:2], world.queue("jobs"), world.queue("errors")) == ([("a", 0), ("a", 2)], [], [])


def test_a_killer_climbs_the_ladder_within_minutes_and_takes_no_neighbour_along() -> None:
    world, succeeded = SqsWorld(), []

    def handle(message: Message) -> None:
        world.spend(30)
        if message.text == "kills":
            world.kill()
        succeeded.append(message.text)

    ladder = Recoverability(Immediate(1), Delayed(0), Failed("errors"))
    world.serve(
        "jobs",
        SqsEndpoint(handle, ladder, extensions=(Heartbeat(TWO_MINUTES),)),
        timeout=FUNCTION,
        recursive_loop="Allow",
    )
    start = world.now
    for body in ("a", "kills", "b"):
        world.send("jobs", body)
    world.run()

    given_up = [(seen.data, seen.exception_type) for seen in world.queue("errors")]
    assert given_up == [(b"kills", "recoverable.UnreportedFailure")]
    assert set(succeeded) == {"a", "b"}
    assert world.now - start < timedelta(minutes=20)


def test_on_a_fifo_queue_a_delivery_that_ended_early_waits_for_the_next_round() -> None:
    world = SqsWorld()
    handled: list[float] = []

    def kill(_: Message) -> None:
        handled.append((world.now - start).total_seconds() / MINUTE)
        world.spend(30)
        world.kill()

    start = world.now
    served(world, kill, queue="jobs.fifo", extensions=(Heartbeat(TWO_MINUTES),))

    assert [round(minute) for minute in handled[:2]] == [0, 2]
    assert all(minute >= 60 for minute in handled[2:])


def test_the_order_of_a_fifo_group_holds_under_a_heartbeat() -> None:
    world = SqsWorld()
    runs = Runs(world, takes=3)

    served(world, runs, ["a", "b"], queue="jobs.fifo", extensions=(Heartbeat(TWO_MINUTES),))

    assert [text for text, _ in runs.at] == ["a", "a", "b"]


def test_what_is_visible_already_is_handled_all_the_same_under_its_heartbeat() -> None:
    world = SqsWorld()
    runs = Runs(world, takes=3, dies=False)
    world.fail("invoke", VisibilityExpired(), nth=1)

    served(world, runs, concurrency=1, extensions=(Heartbeat(TWO_MINUTES),))

    assert (runs.at, world.queue("jobs")) == ([("a", 0)], [])


def test_a_delay_that_is_stored_and_a_heartbeat_go_together() -> None:
    world = SqsWorld()
    store, runs = SqliteStore(":memory:"), list[float]()

    def fail_once(_: Message) -> None:
        runs.append((world.now - start).total_seconds() / MINUTE)
        world.spend(5 * MINUTE)
        if len(runs) == 1:
            raise ValueError("no")

    start = world.now
    world.serve_schedule(Dispatcher(store), every=MINUTE)
    ladder = Recoverability(Immediate(0), Delayed(1, timedelta(hours=1)), Failed("errors"))
    endpoint = SqsEndpoint(fail_once, ladder, extensions=(Heartbeat(TWO_MINUTES),), timeouts=Timeouts(store))
    world.serve("jobs", endpoint, timeout=FUNCTION)
    world.send("jobs", "a")
    world.run(for_=90 * MINUTE)

    assert ([round(minute) for minute in runs], world.queue("jobs"), world.queue("errors")) == ([0, 65], [], [])


def test_powertools_processor_has_a_heartbeat_too() -> None:
    world, runs = SqsWorld(), list[str]()
    ladder = Recoverability(Immediate(0), Delayed(0), Failed("errors"))
    processor = RecoverableBatchProcessor(ladder, extensions=(Heartbeat(TWO_MINUTES),))

    def handle(record: SQSRecord) -> None:
        runs.append(record.body)
        world.spend(10 * MINUTE)

    world.create_queue("errors")
    world.serve(
        "jobs", lambda event, context: process_partial_response(event, handle, processor, context), timeout=FUNCTION
    )
    world.send("jobs", "a")
    world.run()

    hidden = [entry.detail for entry in world.timeline() if entry.what == "shown again"]
    assert (runs, hidden, world.queue("jobs")) == (["a"], ["after 120 s"] * 20, [])


def test_where_no_beat_is_permitted_attempts_and_reason_are_as_without_one(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: Message) -> None:
        raise ConnectionError("no answer")

    world = SqsWorld()
    world.fail("change_message_visibility_batch", Refused("AccessDenied"))
    served(world, fail, extensions=(Heartbeat(TWO_MINUTES),))

    (seen,) = world.queue("errors")
    errors = [each.message for each in caplog.records if each.levelname == "ERROR"]
    assert (seen.exception_type, seen.headers[ATTEMPTS]) == ("ConnectionError", "6")
    assert errors[0].endswith("Check the permission sqs:ChangeMessageVisibility.")


def test_no_call_is_made_without_a_heartbeat() -> None:
    world = SqsWorld()
    calls = world.fail("change_message_visibility_batch", Throttled())

    served(world, Runs(world, takes=10, dies=False))

    assert calls.hits == 0
