"""Check the settings of an endpoint that most endpoints leave out, and process batches with them."""

from __future__ import annotations

import os
from contextlib import ExitStack
from datetime import timedelta
from typing import TYPE_CHECKING

from recoverable._limits import MAX_COUNT, checked_count, checked_delay, name_of
from recoverable._sqs.attributes import LONGEST_RETENTION, SHORTEST_RETENTION
from recoverable._sqs.queues import LONGEST_DELAY, LONGEST_VISIBILITY
from recoverable.aws._time_budget import LONGEST_INVOCATION
from recoverable.hosting import FACTS_FILE

if TYPE_CHECKING:
    from recoverable._ladder.delivery import Delivery
    from recoverable.aws._batch import Batch, ProcessBatch, RunHandlers
    from recoverable.aws._settings import SqsSettings


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
    owner, own, hidden, kept = settings.owner, settings.handler_timeout, settings.visibility_timeout, settings.retention
    if not checked_delay(f"{owner}(longest_delay)", settings.longest_delay, LONGEST_DELAY):
        raise ValueError(f"{owner}(longest_delay) is 0; write how long one copy may wait, up to 15 minutes")
    if own is not None and not checked_delay(f"{owner}(handler_timeout)", own, LONGEST_INVOCATION):
        raise ValueError(f"{owner}(handler_timeout) is 0; write how long a handler may run, or None")
    if hidden is not None:
        checked_delay(f"{owner}(visibility_timeout)", hidden, LONGEST_INVOCATION)
    if kept is not None and checked_delay(f"{owner}(retention)", kept, LONGEST_RETENTION) < SHORTEST_RETENTION:
        raise ValueError(f"{owner}(retention) is {kept}; write what the queue has, from 1 minute to 14 days, or None")


def check_services(settings: SqsSettings) -> None:
    """Check what an endpoint was given to talk to SQS, to a store of timeouts and to S3.

    Raises:
        TypeError: one is of another kind.
        ValueError: one cannot answer within the time for settling.
    """
    owner, timeouts, settle_within = settings.owner, settings.timeouts, settings.settle_within
    if settings.client is not None:
        from recoverable._sqs.clients import check_client  # noqa: PLC0415  # few give one

        check_client(owner, settings.client)
    if timeouts is not None:
        if not hasattr(timeouts, "hold"):
            raise TypeError(f"{owner}(timeouts) is {timeouts!r}; write Timeouts(store), or None")
        if settle_within < timeouts.longest_hold:
            raise ValueError(
                f"{owner}(settle_within) is {settle_within}; with timeouts write at least {timeouts.longest_hold}, for a store that does not answer takes as long"
            )
    if settings.large_bodies is not None:
        from recoverable.aws._large_bodies import check_bodies  # noqa: PLC0415  # few endpoints have such

        check_bodies(owner, settings.large_bodies)


def process_with_options(
    batch: Batch, run_handlers: RunHandlers, *, process_batch: ProcessBatch, managed: bool
) -> list[Delivery]:
    """Process a batch with bodies from S3, observed, under a heartbeat, and as Managed Instances need it.

    Args:
        batch: the records, whose settings say which of these; its invocation gets the observer and the heartbeat.
        run_handlers: takes a group of messages through the flow.
        process_batch: runs and settles the records.
        managed: True if the process goes on when the invocation's time is over.
    """
    invocation, settings, facts_file = batch.invocation, batch.settings, os.environ.get(FACTS_FILE)
    if settings.large_bodies is not None and batch.restored:
        from recoverable.aws._large_bodies import attach_bodies  # noqa: PLC0415  # few endpoints have such

        attach_bodies(settings.large_bodies, batch)
    if settings.recoverability.observe is not None or facts_file is not None:
        from recoverable._observe.observer import Observer  # noqa: PLC0415  # few endpoints observe

        invocation.observer = Observer(
            settings.recoverability, "aws_sqs", invocation.clock, invocation.context, facts_file
        )
    with ExitStack() as stack:
        if settings.heartbeat is not None:
            from recoverable.aws._heartbeat import hidden_by_heartbeat  # noqa: PLC0415  # few endpoints have one

            stack.enter_context(hidden_by_heartbeat(settings.heartbeat, batch))
        if managed:
            from recoverable.aws._managed import watched  # noqa: PLC0415  # few functions run there

            run_handlers = stack.enter_context(watched(batch, run_handlers))
        unfinished = process_batch(batch, run_handlers)
    if invocation.observer is not None:
        from recoverable._flow.emit import emit_after_batch  # noqa: PLC0415  # few endpoints observe

        emit_after_batch(invocation.observer, invocation, unfinished)
    return unfinished


def check_concurrency(concurrency: object, handler: object, *, is_coroutine: bool) -> None:
    """Check how many messages an endpoint works on at once.

    Raises:
        TypeError: it is no whole number.
        ValueError: it is out of range, or a plain function cannot work on several messages at once.
    """
    checked_count("SqsEndpoint(concurrency)", concurrency, MAX_COUNT, least=1)
    if concurrency != 1 and not is_coroutine:
        raise ValueError(
            f"SqsEndpoint(concurrency) is {concurrency}, and {name_of(handler)} is no coroutine; write async def, or leave it at 1"
        )


def check_heartbeat(name: str, heartbeat: timedelta, settle_within: timedelta) -> None:
    """Check for how long a heartbeat hides messages at a time.

    A beat comes after a quarter of that time. A call of it may take half of `settle_within`: with less, one that gets
    no answer would leave no time for the next.

    Raises:
        TypeError: it is no duration.
        ValueError: it is too short, or longer than SQS hides a message.
    """
    checked_delay(name, heartbeat, timedelta(seconds=LONGEST_VISIBILITY))
    least = max(2 * settle_within, timedelta(seconds=1))
    if heartbeat < least:
        raise ValueError(f"{name} is {heartbeat}; write {least} or more, which is twice settle_within, or None")
