"""Process a batch under a heartbeat: begun before the first handler runs, ended before the invocation returns."""

from __future__ import annotations

from datetime import timedelta
from math import ceil
from typing import TYPE_CHECKING

from recoverable._config import redactor_of
from recoverable._ladder.delivery import delivery_of
from recoverable._sqs.batches import CHANGE_VISIBILITY
from recoverable._sqs.broker import Broker
from recoverable.aws._heartbeat.beats import Beats
from recoverable.aws._heartbeat.timer import call_later
from recoverable.aws._settle import log_failed_call, receipt
from recoverable.aws._time_budget import TimeBudget

if TYPE_CHECKING:
    from datetime import datetime

    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.faults import Redact
    from recoverable._message import Message
    from recoverable._sqs.queues import Queue
    from recoverable.aws._batch import ProcessBatch
    from recoverable.hosting import Environment

NOT_REPEATED = (
    "Their heartbeat is tried again at the next beat; without it they become visible while this instance still has them, or "
    "a crash is noticed late. Check the permission sqs:ChangeMessageVisibility."
)
NOT_HIDDEN = (
    "Their heartbeat ends: they were visible already, and may be worked on by another instance as well; or they were hidden for "
    "12 hours, which is the longest that SQS allows. Raise the queue's visibility timeout, or lower the batching window."
)


def with_heartbeat(hidden: timedelta, process_batch: ProcessBatch) -> ProcessBatch:
    """Return `process_batch` under a heartbeat.

    Args:
        hidden: for how long the messages are hidden at a time.
        process_batch: see `batch.process_batch`, as for the arguments of what is returned.
    """

    def process(
        messages: list[Message],
        restored: list[Delivery],
        queue: Queue,
        run_handlers: object,
        invocation: Invocation,
        time: TimeBudget,
        *,
        environment: Environment,
        **others: object,
    ) -> list[Delivery]:
        beats = beats_for(hidden, queue, time, environment)
        invocation.heartbeat = beats
        try:
            beats.begin([delivery_of(message) for message in messages])
            return process_batch(
                messages, restored, queue, run_handlers, invocation, time, environment=environment, **others
            )
        finally:
            beats.end_all()

    return process


def beats_for(hidden: timedelta, queue: Queue, time: TimeBudget, environment: Environment) -> Beats:
    """Return the heartbeat of an invocation, which has not begun."""
    # a division of its own: its calls are made beside those of the invocation, and are bounded like them
    beside = TimeBudget(None, timedelta(seconds=2 * time.call_timeout))
    broker, began = Broker(queue, environment, beside), environment.clock()
    redact = None if time.invocation is None else redactor_of(time.invocation.recoverability)
    return Beats(
        ceil(hidden.total_seconds()),
        lambda deliveries, seconds: hide(deliveries, seconds, broker, redact),
        later=environment.later or call_later,
        sleep=environment.sleep,
        elapsed=lambda: seconds_between(began, environment.clock()),
    )


def seconds_between(earlier: datetime, later: datetime) -> float:
    """Return the seconds from one time to another."""
    return (later - earlier).total_seconds()


def hide(
    deliveries: list[Delivery], seconds: int, broker: Broker, redact: Redact | None
) -> tuple[list[Delivery], bool]:
    """Hide messages for so many seconds from now.

    Returns:
        Those that SQS does not hide any more; and True if the call failed as a whole, so that others would fail too.
    """
    entries = [{**receipt(delivery), "VisibilityTimeout": seconds} for delivery in deliveries]
    failures, as_a_whole = broker.call(CHANGE_VISIBILITY, broker.queue, entries)
    gone = [deliveries[n] for n, each in failures.items() if each.is_for_good and not as_a_whole]
    missed = [deliveries[n] for n in failures if deliveries[n] not in gone]
    reasons = {failure.reason for failure in failures.values()}
    for consequence, concerned in ((NOT_HIDDEN, gone), (NOT_REPEATED, missed)):
        if concerned:
            log_failed_call(CHANGE_VISIBILITY, broker.queue, concerned, reasons, consequence, redact)
    return gone, as_a_whole
