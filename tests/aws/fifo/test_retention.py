"""On a FIFO queue nothing that was delivered expires unseen: a message moves to the error queue while there is time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import Refused, SqsWorld, Throttled

HOUR = timedelta(hours=1)
LONG = Delayed(20, HOUR)
"""A ladder whose delays are 210 hours in all, where a queue keeps a message for 96."""


def fail(message: Message) -> None:
    raise ConnectionError("no answer")


def run(
    world: SqsWorld,
    *,
    immediate: int = 0,
    delayed: Delayed = LONG,
    queue: Mapping[str, Any] | None = None,
    **settings: Any,
) -> None:
    """Send one message to a FIFO queue whose handler always fails, and run."""
    ladder = Recoverability(Immediate(immediate), delayed, Failed("errors.fifo"))
    world.create_queue("errors.fifo", retention=timedelta(days=14))
    world.create_queue(
        "jobs.fifo", visibility_timeout=180, dead_letter_queue="errors.fifo", max_receive_count=100, **(queue or {})
    )
    world.serve("jobs.fifo", SqsEndpoint(fail, ladder, **settings), batch_size=1, timeout=30)
    world.send("jobs.fifo", "a", group_id="g", deduplication_id="1")
    world.run()


def attempts(world: SqsWorld) -> int:
    """Return how often the handler ran."""
    return sum(event.what == "attempted" for event in world.timeline())


@pytest.mark.parametrize(
    ("queue", "settings", "runs"),
    [
        pytest.param({}, {}, 12, id="as the queue says, which is four days: the sum of eleven delays is 66 hours, of twelve 78"),
        pytest.param({"retention": timedelta(days=14)}, {}, 12, id="as a longer one says: a delay of 12 hours is too long by itself"),
        pytest.param({"retention": timedelta(days=14)}, {"retention": timedelta(hours=12)}, 5, id="as the setting says: 10 hours, then 15"),
    ],
)  # fmt: skip
def test_a_message_moves_to_the_error_queue_before_it_expires(
    sqs_world: SqsWorld, queue: dict[str, Any], settings: dict[str, Any], runs: int
) -> None:
    run(sqs_world, queue=queue, **settings)

    (seen,) = sqs_world.queue("errors.fifo")
    assert (seen.exception_type, attempts(sqs_world)) == ("ConnectionError", runs)


def test_the_log_says_why_a_message_cannot_wait(sqs_world: SqsWorld, caplog: pytest.LogCaptureFixture) -> None:
    run(sqs_world, retention=timedelta(hours=4))

    assert (
        "The message cannot wait in its queue: the queue keeps it for 4:00:00, and after the wait too little of that would be left. "
        "It moves to the error queue." in caplog.text
    )


def test_a_warning_comes_once_when_half_of_the_retention_is_used(
    sqs_world: SqsWorld, caplog: pytest.LogCaptureFixture
) -> None:
    run(sqs_world, queue={"retention": timedelta(hours=20)})

    warnings = [record.message for record in caplog.records if "used half of its retention" in record.message]
    assert len(warnings) == 1
    assert "The messages behind it in its group 'g' age unseen, and expire 20:00:00 after their own send" in warnings[0]


def test_the_last_receive_that_the_redrive_policy_allows_keeps_the_reason(sqs_world: SqsWorld) -> None:
    ladder = Recoverability(Immediate(9), Delayed(0), Failed("errors.fifo"))
    sqs_world.create_queue("jobs.fifo", visibility_timeout=180, dead_letter_queue="errors.fifo", max_receive_count=3)
    sqs_world.serve("jobs.fifo", SqsEndpoint(fail, ladder), batch_size=1, timeout=30)
    sqs_world.send("jobs.fifo", "a", group_id="g", deduplication_id="1")
    sqs_world.run()

    (seen,) = sqs_world.queue("errors.fifo")
    assert (seen.exception_type, attempts(sqs_world)) == ("ConnectionError", 3)


def test_where_sqs_does_not_say_the_retention_it_is_taken_to_be_four_days(
    sqs_world: SqsWorld, caplog: pytest.LogCaptureFixture
) -> None:
    sqs_world.fail("get_queue_attributes", Refused("AccessDenied"))

    run(sqs_world, queue={"retention": timedelta(days=14)})

    (seen,) = sqs_world.queue("errors.fifo")
    assert (seen.exception_type, attempts(sqs_world)) == ("ConnectionError", 12)
    assert "its retention 4 days, 0:00:00. Check the permission sqs:GetQueueAttributes." in caplog.text


@pytest.mark.parametrize(
    "refusals",
    [
        pytest.param(1, id="it is asked again at once"),
        pytest.param(2, id="and after a quarter of an hour, when no handler runs"),
    ],
)
def test_a_message_does_not_expire_while_sqs_does_not_say_the_retention(sqs_world: SqsWorld, refusals: int) -> None:
    for nth in range(1, refusals + 1):
        sqs_world.fail("get_queue_attributes", Throttled(), nth=nth)

    run(sqs_world, immediate=2, delayed=Delayed(1, 6 * HOUR), queue={"retention": 4 * HOUR})

    (seen,) = sqs_world.queue("errors.fifo")
    assert seen.exception_type == "ConnectionError"


def test_while_sqs_does_not_say_the_retention_no_attempt_of_the_last_ones_is_used_up(sqs_world: SqsWorld) -> None:
    sqs_world.fail("get_queue_attributes", Throttled(), during=HOUR)

    run(sqs_world, delayed=Delayed(1, 6 * HOUR))

    (seen,) = sqs_world.queue("errors.fifo")
    assert (seen.exception_type, attempts(sqs_world)) == ("ConnectionError", 2)
