"""Run one invocation: its records group by group, each group settled before the next one runs."""

from __future__ import annotations

import logging

from recoverable.aws.order import groups
from recoverable.limits import NO_DELAY
from recoverable.recovery.settlement import COMPLETE, Redeliver

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from mypy_boto3_sqs import SQSClient

    from recoverable.attempts.flow import Invocation
    from recoverable.aws.queues import Queue
    from recoverable.aws.time_budget import TimeBudget
    from recoverable.recovery.delivery import Delivery
    from recoverable.timeouts import Timeouts

    RunHandlers: TypeAlias = Callable[[list[Delivery], Invocation], object]

log = logging.getLogger("recoverable")

LONGEST_VISIBILITY = 43_200
"""Seconds for which SQS keeps a message hidden, counted from its receive (Amazon SQS visibility timeout)."""


def process_batch(
    deliveries: list[Delivery],
    queue: Queue,
    run_handlers: RunHandlers,
    invocation: Invocation,
    time: TimeBudget,
    *,
    client: SQSClient | None,
    timeouts: Timeouts | None,
    partial: bool,
) -> list[Delivery]:
    """Run and settle the records of one invocation, and return those that SQS must deliver again.

    Args:
        deliveries: the records.
        queue: where they came from.
        run_handlers: takes a group of deliveries through the flow.
        invocation: what the attempts run in.
        time: the invocation's time.
        client: the user's SQS client; None for the process's own.
        timeouts: where copies are stored that must wait longer than SQS delays them; None where they hop.
        partial: True if the event source mapping deletes what is not reported.
    """
    fifo = queue.fifo
    if fifo and len(deliveries) > 1:
        forgive_held_back(deliveries, queue)
    unfinished: list[Delivery] = []
    all_groups = groups(deliveries, fifo=fifo)
    for group in all_groups:
        if fifo and must_keep_order(group[0], unfinished):
            group[0].settlement = Redeliver(NO_DELAY)
        else:
            run_handlers(group, invocation)
        succeeded = not [delivery for delivery in group if delivery.settlement is not COMPLETE]
        fails = invocation.interruption is not None or not (partial or (succeeded and not unfinished))
        complete_now = (
            fails or group is not all_groups[-1]
        )  # an invocation that fails has nothing deleted by the mapping
        if complete_now or not succeeded:
            from recoverable.aws.client import Broker  # noqa: PLC0415  # the failure side of this platform
            from recoverable.aws.settle import settle  # noqa: PLC0415

            longest = LONGEST_VISIBILITY - time.total
            broker = Broker(queue, client, time)
            unfinished += settle(group, broker, timeouts, longest_visibility=longest, complete_now=complete_now)
    return unfinished


def must_keep_order(delivery: Delivery, unfinished: list[Delivery]) -> bool:
    """True if a FIFO record is behind one of its group that comes back: it must come back too, or the order is lost."""
    return delivery.message.group_id in {each.message.group_id for each in unfinished}


def forgive_held_back(deliveries: list[Delivery], queue: Queue) -> None:
    """Warn that a FIFO batch uses up deliveries of what is held back, and count none of them as unreported."""
    text = "A batch of %d records from the FIFO queue '%s': what is held back uses up deliveries. Set the event source mapping's BatchSize to 1."
    log.warning(text, len(deliveries), queue.name)
    for delivery in deliveries:
        delivery.unreported = False
