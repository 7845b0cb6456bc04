"""The reason is on the message: what an instance remembers of its last failure, where a later delivery moves it to the error queue; in virtual time."""

from __future__ import annotations

import logging
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from local.testing.ladders import CardDeclined, decline, happened
from recoverable import Delayed, Failed, Immediate, Recoverability
from recoverable._flow.settle import NO_OUTCOME
from recoverable._ladder.faults import EXCEPTION_MESSAGE, INNER_EXCEPTION_TYPE, STACK_TRACE
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import Died, Raises, Refused, SqsWorld

DENIED = Refused("AccessDenied", status=403)
DECLINED = f"{CardDeclined.__module__}.CardDeclined"
LARGEST = "x" * 1_048_576


def serve(world: SqsWorld, queue: str, *, immediate: int = 5, delayed: int = 3, **options: Any) -> None:
    """Serve a queue, made as our templates have it, by a handler that always fails."""
    suffix = ".fifo" if queue.endswith(".fifo") else ""
    ladder = Recoverability(Immediate(immediate), Delayed(delayed), Failed(f"errors{suffix}"))
    attempts = (immediate + 1) * (delayed + 1)
    settings = {"dead_letter_queue": f"errors{suffix}", "max_receive_count": attempts + 10 if suffix else 50, **options}
    world.create_queue(queue, visibility_timeout=180, **settings)
    world.serve(queue, SqsEndpoint(decline, ladder), batch_size=1)


def send(world: SqsWorld, queue: str, body: str = "hello") -> None:
    in_order: dict[str, Any] = {"group_id": "g", "deduplication_id": "d"} if queue.endswith(".fifo") else {}
    world.send(queue, body, **in_order)


def reasons(world: SqsWorld, queue: str) -> list[tuple[str | None, str | None]]:
    """Return type and text of the failure of each message in an error queue."""
    return [(seen.exception_type, seen.headers.get(EXCEPTION_MESSAGE)) for seen in world.queue(queue)]


def waits(world: SqsWorld) -> list[int]:
    """Return the seconds between the receives."""
    times = [int(at.total_seconds()) for at, _, _ in happened(world, "received")]
    return [later - earlier for earlier, later in pairwise(times)]


@pytest.mark.parametrize("seconds", [1_000, 7_200, 4 * 3_600])
def test_a_fifo_message_whose_error_queue_was_away_arrives_with_its_failure(sqs_world: SqsWorld, seconds: int) -> None:
    serve(sqs_world, "orders.fifo")
    sqs_world.fail("send_message_batch", DENIED, queue="errors.fifo", during=seconds)
    send(sqs_world, "orders.fifo")
    sqs_world.run()

    assert reasons(sqs_world, "errors.fifo") == [(DECLINED, "do not honour")]
    assert len(happened(sqs_world, "attempted")) == 26


def test_a_fifo_message_waits_for_its_error_queue_longer_each_time_up_to_an_hour(sqs_world: SqsWorld) -> None:
    serve(sqs_world, "orders.fifo", immediate=0, delayed=0, max_receive_count=8)
    sqs_world.fail("send_message_batch", DENIED, queue="errors.fifo")
    send(sqs_world, "orders.fifo")
    sqs_world.run()

    assert waits(sqs_world) == [180, 180, 360, 720, 1_440, 2_880, 3_600]


def test_a_message_whose_role_may_not_send_to_its_queue_arrives_with_its_failure(sqs_world: SqsWorld) -> None:
    serve(sqs_world, "orders", max_receive_count=12)
    sqs_world.fail("send_message_batch", DENIED, queue="orders")
    send(sqs_world, "orders")
    sqs_world.run()

    assert reasons(sqs_world, "errors") == [(DECLINED, "do not honour")]


def test_another_instance_names_a_refused_copy_among_what_may_have_happened(sqs_world: SqsWorld) -> None:
    serve(sqs_world, "orders.fifo", immediate=0, delayed=0)
    sqs_world.fail("send_message_batch", DENIED, queue="errors.fifo", during=1_000)
    sqs_world.fail("invoke", Died(), nth=4)
    send(sqs_world, "orders.fifo")
    sqs_world.run()

    assert reasons(sqs_world, "errors.fifo") == [("recoverable.UnreportedFailure", NO_OUTCOME)]
    assert "a copy that was refused" in NO_OUTCOME


def test_a_failure_before_deliveries_of_which_nothing_is_known_is_the_inner_exception(sqs_world: SqsWorld) -> None:
    serve(sqs_world, "orders", immediate=1, delayed=0)
    for nth in (2, 3, 4):
        sqs_world.fail("invoke", Raises(OSError("no room for the code")), nth=nth)
    send(sqs_world, "orders")
    sqs_world.run()

    (seen,) = sqs_world.queue("errors")
    before = f"before that, at delivery 1 of 5: {DECLINED}: do not honour"
    assert reasons(sqs_world, "errors") == [("recoverable.UnreportedFailure", f"{NO_OUTCOME}; {before}")]
    assert seen.headers[INNER_EXCEPTION_TYPE] == DECLINED
    assert f" ---> {DECLINED}: do not honour\n   at local.testing.ladders.decline() in " in seen.headers[STACK_TRACE]


@pytest.mark.parametrize("ladder", [(0, 0), (3, 0), (1, 1)])
def test_the_log_never_says_that_a_message_of_1_mib_moves_which_cannot_be_copied(
    sqs_world: SqsWorld, caplog: pytest.LogCaptureFixture, ladder: tuple[int, int]
) -> None:
    caplog.set_level(logging.INFO, logger="recoverable")
    immediate, delayed = ladder
    serve(sqs_world, "orders", immediate=immediate, delayed=delayed, max_receive_count=immediate + 5)
    send(sqs_world, "orders", LARGEST)
    sqs_world.run()

    said = [line.getMessage() for line in caplog.records if not line.getMessage().startswith("Immediate Retry")]
    assert len(said) == 5  # of its receives past the immediate retries
    assert all(line.startswith("No copy of message") and "larger than SQS takes" in line for line in said)
    assert len(sqs_world.queue("errors")) == 1


def test_a_message_that_no_queue_takes_waits_longer_each_time_up_to_15_minutes(sqs_world: SqsWorld) -> None:
    serve(sqs_world, "orders", immediate=0, delayed=1, dead_letter_queue=None)
    send(sqs_world, "orders", LARGEST)
    sqs_world.run(for_=timedelta(hours=2))

    assert waits(sqs_world) == [180, 180, 360, 720, *[900] * 6]


def test_the_receives_that_a_redrive_policy_leaves_come_before_the_message_expires(sqs_world: SqsWorld) -> None:
    serve(sqs_world, "orders", immediate=0, delayed=1, max_receive_count=60, retention=timedelta(hours=6))
    send(sqs_world, "orders", LARGEST)
    sqs_world.run()

    assert len(sqs_world.queue("errors")) == 1
