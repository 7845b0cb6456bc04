"""Lambda Managed Instances in virtual time: nothing ends code whose time is over, and a late answer counts for nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.extensions import Heartbeat
from recoverable.hosting import Batch, Extension, Outcome, Part
from recoverable_local.testing import Refused, SqsWorld, Throttled, Unreachable

FUNCTION = 60.0
HANGING = 500.0
"""Seconds for which a handler hangs: long beyond the function's time-out, and beyond the queue's visibility timeout."""

HOUR = 3_600


@pytest.fixture(autouse=True)
def on_managed_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set what Lambda sets there."""
    monkeypatch.setenv("AWS_LAMBDA_MAX_CONCURRENCY", "4")


class Handler:
    """A handler that records its runs; "hangs" cannot be stopped at its first run, and then ends well or is stopped.

    Args:
        world: where it runs.
        seconds: for how long it hangs.
        swallows: whether its code catches what stops it.
    """

    def __init__(self, world: SqsWorld, *, seconds: float = HANGING, swallows: bool = False) -> None:
        self._world, self._start, self._seconds, self._swallows = world, world.now, seconds, swallows
        self.runs: list[tuple[str, int]] = []
        self.at_work: list[str] = []
        self.together: list[str] = []

    def __call__(self, message: Message) -> None:
        if message.text in self.at_work:
            self.together.append(message.text)
        self.at_work.append(message.text)
        self.runs.append((message.text, round((self._world.now - self._start).total_seconds())))
        try:
            self._work(message)
        finally:
            self.at_work.remove(message.text)

    def _work(self, message: Message) -> None:
        if message.text == "fails":
            raise ValueError("no")
        if message.text != "hangs" or len([text for text, _ in self.runs if text == "hangs"]) > 1:
            return
        try:
            self._world.hang(self._seconds)
        except BaseException:
            if not self._swallows:
                raise

    def times(self, text: str) -> list[int]:
        """Return the seconds at which a message ran."""
        return [seconds for ran, seconds in self.runs if ran == text]


def serve(
    world: SqsWorld, handler: Callable[[Message], Any], *bodies: str, queue: str = "jobs", **settings: Any
) -> None:
    """Serve the queue on managed instances, send the messages, and run until nothing is left to do."""
    error = "errors.fifo" if queue.endswith(".fifo") else "errors"
    ladder = Recoverability(Immediate(1), Delayed(0), Failed(error))
    world.create_queue(error)
    world.create_queue(queue, visibility_timeout=2 * FUNCTION)
    endpoint = SqsEndpoint(handler, ladder, **settings)
    world.serve(queue, endpoint, timeout=FUNCTION, managed_instances=True, recursive_loop="Allow")
    for number, body in enumerate(bodies):
        fifo = queue.endswith(".fifo")
        world.send(queue, body, group_id="g" if fifo else None, deduplication_id=str(number) if fifo else None)
    world.run()


def left(world: SqsWorld) -> dict[str, list[bytes]]:
    """Return what is in the queues."""
    return {name: [seen.data for seen in world.queue(name)] for name in ("jobs", "errors")}


@pytest.mark.parametrize("heartbeat", [None, timedelta(seconds=30)])
def test_a_message_whose_handler_cannot_be_stopped_does_not_run_beside_its_own_redelivery(
    heartbeat: timedelta | None,
) -> None:
    world = SqsWorld()
    handler = Handler(world)

    serve(world, handler, "hangs", extensions=(Heartbeat(heartbeat),) if heartbeat else ())

    assert (handler.times("hangs"), handler.together) == ([0, 500], [])
    assert left(world) == {"jobs": [], "errors": []}


def test_a_handler_that_ends_well_after_its_time_is_settled_by_its_receipt_handle() -> None:
    world = SqsWorld()
    handler = Handler(world, swallows=True)

    serve(world, handler, "hangs")

    assert (handler.times("hangs"), left(world)) == ([0], {"jobs": [], "errors": []})


@pytest.mark.parametrize("heartbeat", [None, timedelta(seconds=30)])
def test_its_neighbours_are_settled_before_the_time_ends(heartbeat: timedelta | None) -> None:
    world = SqsWorld()
    handler = Handler(world)

    serve(world, handler, "before", "fails", "hangs", "after", extensions=(Heartbeat(heartbeat),) if heartbeat else ())

    assert {text: handler.times(text) for text in ("before", "after")} == {"before": [0], "after": [58]}
    assert [seconds for seconds in handler.times("fails") if seconds < FUNCTION] == [0, 58]
    assert left(world) == {"jobs": [], "errors": [b"fails"]}


def test_what_a_neighbour_sent_leaves_before_it_is_settled() -> None:
    world = SqsWorld()
    handler = Handler(world)

    def handle(message: Message) -> None:
        if message.text == "before":
            message.send("placed", "sent")
        handler(message)

    world.create_queue("placed")
    serve(world, handle, "before", "hangs")

    (sent,) = world.queue("placed")
    assert (sent.data, (sent.sent_at - world._start).total_seconds()) == (b"sent", FUNCTION - 1.5)


def test_messages_of_a_fifo_group_keep_their_order_behind_a_handler_that_hangs() -> None:
    world = SqsWorld()
    handler = Handler(world)

    serve(world, handler, "first", "hangs", "last", queue="jobs.fifo")

    assert handler.times("last")[-1] > handler.times("hangs")[-1] - 1
    assert (handler.together, world.queue("jobs.fifo")) == ([], [])


def test_a_coroutine_that_blocks_the_event_loop_is_held_with_those_that_it_blocks() -> None:
    world, runs = SqsWorld(), list[tuple[str, float]]()

    async def handle(message: Message) -> None:
        runs.append((message.text, (world.now - world._start).total_seconds()))
        if message.text == "hangs":
            world.hang(HANGING)

    serve(world, handle, "hangs", "beside", "after", concurrency=2)

    assert [seconds for text, seconds in runs if text == "hangs"] == [0]
    assert left(world) == {"jobs": [], "errors": []}


def test_a_handler_that_never_ends_is_visible_again_after_twelve_hours(caplog: pytest.LogCaptureFixture) -> None:
    world = SqsWorld()
    handler = Handler(world, seconds=20 * HOUR)

    serve(world, handler, "hangs")

    assert [round(seconds / HOUR) for seconds in handler.times("hangs")] == [0, 12]
    assert "They are hidden no more: they were deleted, or hidden for 12 hours" in caplog.text


def test_a_beat_that_gets_lost_while_a_handler_hangs_is_made_up_for() -> None:
    world = SqsWorld()
    handler = Handler(world)
    world.fail("change_message_visibility_batch", Throttled(), after=100, during=60)

    serve(world, handler, "hangs")

    assert (handler.times("hangs"), handler.together) == ([0, 500], [])


def test_the_log_says_that_a_handler_cannot_be_stopped_and_what_to_do(caplog: pytest.LogCaptureFixture) -> None:
    world = SqsWorld()

    serve(world, Handler(world), "hangs")

    (said,) = [record for record in caplog.records if "cannot be stopped" in record.message]
    assert (said.levelname, said.message) == (
        "ERROR",
        "A handler for messages from 'jobs' has not ended in its time, and cannot be stopped. Messages whose handlers have "
        "ended are settled, and those whose handlers have not begun are handed back. Its message stays hidden until the handler ends, for 12 hours at most, and this process takes no other "
        "messages until then. Check what the handler waits for, and give that a time-out: C code, a lock, a process.",
    )


def test_handlers_that_end_in_their_time_cost_no_call() -> None:
    world = SqsWorld()
    calls = [
        world.fail(f"{verb}_message{what}_batch", Throttled())
        for verb, what in (("delete", ""), ("change", "_visibility"))
    ]

    serve(world, Handler(world), "a", "b")

    assert ([rule.hits for rule in calls], left(world)) == ([0, 0], {"jobs": [], "errors": []})


def test_what_completes_in_the_last_moment_is_deleted_here_for_its_answer_may_come_too_late() -> None:
    world = SqsWorld()

    serve(world, lambda _: world.spend(FUNCTION - 0.3), "a", settle_within=timedelta(seconds=0.1))

    assert [entry.what for entry in world.timeline()][-2:] == ["deleted", "attempted"][::-1]
    assert left(world) == {"jobs": [], "errors": []}


def deny(world: SqsWorld) -> None:
    """Take the right to delete from the function's role, until the messages come back."""
    world.fail("delete_message_batch", Refused("AccessDenied"), during=2 * FUNCTION - 1)
    world.fail("settle", Unreachable(), during=2 * FUNCTION - 1)


def undone(world: SqsWorld, handler: Callable[[Message], Any], *bodies: str, **settings: Any) -> list[str]:
    """Serve as above, and return the messages whose success was reported as not done."""
    outcomes: list[Outcome] = []

    class Told(Extension):
        def open(self, batch: Batch) -> Part:
            return cast("Part", SimpleNamespace(settled=outcomes.extend))

    serve(world, handler, *bodies, extensions=(Told(),), **settings)
    return [each.message.text for each in outcomes if each.facts.action == "complete" and not each.done]


def test_a_success_that_sqs_will_not_delete_beside_a_handler_that_hangs_is_reported() -> None:
    world = SqsWorld()
    deny(world)

    assert undone(world, Handler(world), "before", "hangs") == ["before"]
    assert left(world) == {"jobs": [], "errors": []}


def test_a_success_of_the_last_moment_that_sqs_will_not_delete_is_reported() -> None:
    world = SqsWorld()
    deny(world)

    assert undone(world, lambda _: world.spend(FUNCTION - 0.3), "a", settle_within=timedelta(seconds=0.1)) == ["a"]
    assert left(world) == {"jobs": [], "errors": []}


def test_a_handler_that_wants_to_end_its_process_fails_and_its_process_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world, runs = SqsWorld(), list[str]()

    def handle(message: Message) -> None:
        runs.append(message.text)
        if message.text == "exits":
            raise SystemExit(3)

    serve(world, handle, "before", "exits", "after")

    failed = [entry.detail for entry in world.timeline() if entry.what == "invocation failed"]
    assert (failed, left(world)) == ([], {"jobs": [], "errors": [b"exits"]})
    assert (runs.count("before"), runs.count("exits"), runs.count("after")) == (1, 2, 1)
    assert "A handler raised SystemExit, which is a failed attempt." in caplog.text


def test_a_function_may_run_for_ninety_minutes_there_and_for_fifteen_elsewhere() -> None:
    world = SqsWorld()
    world.serve("long", SqsEndpoint(lambda _: None), timeout=5_400, managed_instances=True)

    with pytest.raises(ValueError, match=r"serve\(timeout\) is 5400 s; write more than 0 and up to 900"):
        world.serve("short", SqsEndpoint(lambda _: None), timeout=5_400)
