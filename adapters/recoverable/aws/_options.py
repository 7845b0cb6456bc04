"""Check the settings of an endpoint that most endpoints leave out, and process batches as they want it."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING

from recoverable._limits import MAX_COUNT, checked_count, checked_delay, name_of
from recoverable._sqs.queues import LONGEST_DELAY, LONGEST_VISIBILITY
from recoverable.aws._batch import process_batch as plain
from recoverable.aws._time_budget import LONGEST_INVOCATION

if TYPE_CHECKING:
    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._message import Message
    from recoverable._observe.settings import Observe
    from recoverable._sqs.queues import Queue
    from recoverable.aws._batch import ProcessBatch
    from recoverable.aws._large_bodies import S3Bodies
    from recoverable.aws._settings import SqsSettings
    from recoverable.aws._time_budget import TimeBudget
    from recoverable.hosting import Environment


MAX_CONCURRENCY = "AWS_LAMBDA_MAX_CONCURRENCY"
"""The variable that Lambda sets on Managed Instances: the processes of one environment."""


def check_options(settings: SqsSettings) -> None:
    """Check those of an endpoint's settings that most endpoints leave out.

    Raises:
        TypeError: a setting of another kind.
        ValueError: a setting out of range.
    """
    owner, settle_within = settings.owner, settings.settle_within
    checked_delay(f"{owner}(settle_within)", settle_within, LONGEST_INVOCATION)
    if settings.counter not in ("native", "header"):
        raise ValueError(f'{owner}(counter) is {settings.counter!r}; write "native" or "header"')
    check_durations(settings)
    if settings.heartbeat is not None:
        check_heartbeat(f"{owner}(heartbeat)", settings.heartbeat, settle_within)
    check_services(settings)


def check_durations(settings: SqsSettings) -> None:
    """Check how long a copy waits, a handler runs and a message stays hidden.

    Raises:
        TypeError: one is no duration.
        ValueError: one is out of range.
    """
    owner, own, hidden = settings.owner, settings.handler_timeout, settings.visibility_timeout
    if not checked_delay(f"{owner}(longest_delay)", settings.longest_delay, LONGEST_DELAY):
        raise ValueError(f"{owner}(longest_delay) is 0; write how long one copy may wait, up to 15 minutes")
    if own is not None and not checked_delay(f"{owner}(handler_timeout)", own, LONGEST_INVOCATION):
        raise ValueError(f"{owner}(handler_timeout) is 0; write how long a handler may run, or None")
    if hidden is not None:
        checked_delay(f"{owner}(visibility_timeout)", hidden, LONGEST_INVOCATION)


def check_services(settings: SqsSettings) -> None:
    """Check what an endpoint was given to talk to SQS, to a store of timeouts and to S3.

    Raises:
        TypeError: one is of another kind.
        ValueError: one cannot answer within the time for settling.
    """
    owner, timeouts, settle_within = settings.owner, settings.timeouts, settings.settle_within
    if settings.client is not None:
        from recoverable._sqs.clients import check_client  # noqa: PLC0415  # for those who give one

        check_client(owner, settings.client)
    if timeouts is not None:
        if not hasattr(timeouts, "hold"):
            raise TypeError(f"{owner}(timeouts) is {timeouts!r}; write Timeouts(store), or None")
        if settle_within < timeouts.longest_hold:
            raise ValueError(
                f"{owner}(settle_within) is {settle_within}; with timeouts write at least {timeouts.longest_hold}, for a store that does not answer takes as long"
            )
    if settings.large_bodies is not None:
        from recoverable.aws._large_bodies import check_bodies  # noqa: PLC0415  # for those who have such

        check_bodies(owner, settings.large_bodies)


def processing(settings: SqsSettings) -> ProcessBatch:
    """Return `batch.process_batch` as the settings and the host want it: with bodies from S3, observed, or under a heartbeat.

    On Managed Instances it is also as these need it.
    """
    heartbeat, large_bodies, observe = settings.heartbeat, settings.large_bodies, settings.recoverability.observe
    process_batch: ProcessBatch = plain
    if MAX_CONCURRENCY in os.environ:
        from recoverable.aws._managed import on_managed_instances  # noqa: PLC0415  # for those who run there

        process_batch = on_managed_instances(process_batch)
    if heartbeat is not None:
        from recoverable.aws._heartbeat import with_heartbeat  # noqa: PLC0415  # for those who want one

        process_batch = with_heartbeat(heartbeat, process_batch)
    if observe is not None:
        process_batch = observed(observe, process_batch)
    if large_bodies is not None:
        process_batch = with_bodies(large_bodies, process_batch)
    return process_batch


def with_bodies(bodies: S3Bodies, process_batch: ProcessBatch) -> ProcessBatch:
    """Return `process_batch` with the bodies attached to the messages that have a pointer."""

    def process(
        messages: list[Message], restored: list[Delivery], queue: Queue, run_handlers: object,
        invocation: Invocation, time: TimeBudget, *, environment: Environment, **named: object,
    ) -> list[Delivery]:  # fmt: skip
        if restored:  # where a message is that has a pointer
            from recoverable.aws._large_bodies import attach_bodies  # noqa: PLC0415  # for those who have such

            attach_bodies(restored, bodies, queue, environment, time)
        return process_batch(
            messages, restored, queue, run_handlers, invocation, time, environment=environment, **named
        )

    return process


def observed(observe: Observe, process_batch: ProcessBatch) -> ProcessBatch:
    """Return `process_batch` with an observer of its invocation, which at its end is told what the batch came to."""
    from recoverable._flow.emit import emit_after_batch  # noqa: PLC0415  # for those who observe
    from recoverable._observe.observer import Observer  # noqa: PLC0415  # as above

    def process(
        messages: list[Message], restored: list[Delivery], queue: Queue, run_handlers: object,
        invocation: Invocation, *others: object, **named: object,
    ) -> list[Delivery]:  # fmt: skip
        observer = invocation.observer = Observer(observe, "aws_sqs", invocation.clock, invocation.context)
        unfinished = process_batch(messages, restored, queue, run_handlers, invocation, *others, **named)
        emit_after_batch(observer, invocation, unfinished)
        return unfinished

    return process


def check_concurrency(concurrency: object, handler: object, *, is_coroutine: bool) -> None:
    """Check how many messages an endpoint works on at once.

    Raises:
        TypeError: it is no whole number.
        ValueError: it is out of range, or a plain function cannot work on several messages at once.
    """
    if checked_count("SqsEndpoint(concurrency)", concurrency, MAX_COUNT) < 1:
        raise ValueError("SqsEndpoint(concurrency) is 0; write how many messages are worked on at once, from 1")
    if concurrency != 1 and not is_coroutine:
        raise ValueError(
            f"SqsEndpoint(concurrency) is {concurrency}, and {name_of(handler)} is no coroutine; write async def, or leave it at 1"
        )


def check_heartbeat(name: str, heartbeat: timedelta, settle_within: timedelta) -> None:
    """Check for how long a heartbeat hides messages at a time.

    A beat comes after a quarter of that time. A call of it may take half of `settle_within`: with less, one that gets no answer would
    leave no time for the next.

    Raises:
        TypeError: it is no duration.
        ValueError: it is too short, or longer than SQS hides a message.
    """
    checked_delay(name, heartbeat, timedelta(seconds=LONGEST_VISIBILITY))
    least = max(2 * settle_within, timedelta(seconds=1))
    if heartbeat < least:
        raise ValueError(f"{name} is {heartbeat}; write {least} or more, which is twice settle_within, or None")
