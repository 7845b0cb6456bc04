"""A message that only ends its process, or of which no copy is taken, moves on before it would expire unseen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from math import inf
from typing import Any

import pytest

from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable._flow.settle import NO_OUTCOME
from recoverable._ladder.faults import EXCEPTION_MESSAGE
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import Fault, SqsWorld, Throttled
from recoverable_local.testing.engine.fault_plan import FaultPoint

DAY = timedelta(days=1)
EXPIRES = "the queue keeps it for 1 day, 0:00:00, and after the wait too little of that would be left"
NOTHING: Mapping[str, Any] = {}
FIFO: Mapping[str, Any] = {"group_id": "g", "deduplication_id": "1"}


def run(
    world: SqsWorld,
    handler: Callable[[Message], Any],
    ladder: Recoverability,
    *,
    visibility: timedelta,
    queue: str = "jobs",
    receives: int = 200,
) -> int:
    """Send one message to a queue that keeps it for a day, run, and return how often its handler ran."""
    errors, message = ("errors.fifo", FIFO) if queue.endswith(".fifo") else ("errors", NOTHING)
    world.create_queue(errors, retention=timedelta(days=14))
    world.create_queue(
        queue,
        visibility_timeout=visibility.total_seconds(),
        retention=DAY,
        dead_letter_queue=errors,
        max_receive_count=receives,
    )
    endpoint = SqsEndpoint(handler, ladder.replace(failed=Failed(errors)))
    world.serve(queue, endpoint, batch_size=1, timeout=30, recursive_loop="Allow")
    world.send(queue, "a", **message)
    world.run()
    return sum(event.what == "attempted" for event in world.timeline())


def ends_its_process(world: SqsWorld) -> Callable[[Message], None]:
    """Return a handler that ends its process."""
    return lambda message: world.kill()


@pytest.mark.parametrize(
    ("ladder", "runs"),
    [
        pytest.param(Recoverability(Immediate(130), Delayed(0)), 90, id="130 attempts in one round"),
        pytest.param(Recoverability(Immediate(20), Delayed(8, timedelta(minutes=90))), 90, id="rounds of 21 attempts, 90 minutes apart"),
        pytest.param(Recoverability(Immediate(5), Delayed(3, timedelta(minutes=90))), 24, id="the default numbers, which end before"),
    ],
)  # fmt: skip
def test_a_fifo_message_that_ends_its_process_moves_to_the_error_queue_before_it_expires(
    sqs_world: SqsWorld, ladder: Recoverability, runs: int
) -> None:
    made = run(sqs_world, ends_its_process(sqs_world), ladder, visibility=timedelta(minutes=15), queue="jobs.fifo")

    (seen,) = sqs_world.queue("errors.fifo")
    assert (seen.exception_type, made) == ("recoverable.UnreportedFailure", runs)


def test_its_reason_says_that_it_would_have_expired(sqs_world: SqsWorld, caplog: pytest.LogCaptureFixture) -> None:
    ladder = Recoverability(Immediate(130), Delayed(0))

    run(sqs_world, ends_its_process(sqs_world), ladder, visibility=timedelta(minutes=15), queue="jobs.fifo")

    (seen,) = sqs_world.queue("errors.fifo")
    assert seen.headers[EXCEPTION_MESSAGE] == (f"{NO_OUTCOME}; {EXPIRES}")
    assert f"The message cannot wait in its queue: {EXPIRES}. It moves to the error queue." in caplog.text


@pytest.mark.parametrize("hours", [6, 12])
def test_on_a_standard_queue_it_goes_on_as_a_copy_with_the_same_count(sqs_world: SqsWorld, hours: int) -> None:
    ladder = Recoverability(Immediate(5), Delayed(0))

    runs = run(sqs_world, ends_its_process(sqs_world), ladder, visibility=timedelta(hours=hours))

    (seen,) = sqs_world.queue("errors")
    assert (seen.exception_type, runs) == ("recoverable.UnreportedFailure", 8)


def fail(message: Message) -> None:
    raise ConnectionError("no answer")


def takes_no_copy(world: SqsWorld, queue: str, *, hours: float = inf) -> None:
    """Have a queue take no message for so many hours."""
    start = world.now

    def refuse(point: FaultPoint) -> Fault | None:
        is_copy = (point.when, point.what, point.queue) == ("before", "send_message_batch", queue)
        return Throttled() if is_copy and (world.now - start).total_seconds() < hours * 3_600 else None

    world.ask_at_each_point(refuse)


def test_a_message_whose_own_queue_takes_no_copy_moves_to_the_error_queue(sqs_world: SqsWorld) -> None:
    takes_no_copy(sqs_world, "jobs")

    runs = run(sqs_world, fail, Recoverability(Immediate(0), Delayed(3)), visibility=timedelta(hours=6))

    (seen,) = sqs_world.queue("errors")
    assert (seen.exception_type, seen.headers[EXCEPTION_MESSAGE], runs) == ("ConnectionError", "no answer", 2)


def test_so_does_one_that_the_redrive_policy_would_take_without_a_reason(sqs_world: SqsWorld) -> None:
    takes_no_copy(sqs_world, "jobs")

    run(sqs_world, fail, Recoverability(Immediate(0), Delayed(3)), visibility=timedelta(minutes=3), receives=6)

    (seen,) = sqs_world.queue("errors")
    assert (seen.exception_type, seen.headers[EXCEPTION_MESSAGE]) == ("ConnectionError", "no answer")


def test_a_message_whose_error_queue_takes_no_copy_waits_for_it_as_a_copy(sqs_world: SqsWorld) -> None:
    takes_no_copy(sqs_world, "errors", hours=30)

    run(sqs_world, fail, Recoverability(Immediate(0), Delayed(0)), visibility=timedelta(hours=6))

    (seen,) = sqs_world.queue("errors")
    assert (seen.body, seen.exception_type is None, sqs_world.queue("jobs")) == ("a", False, [])
