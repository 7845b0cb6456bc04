"""Settles with the broker what recovery decided: send the copies first, then complete; nothing is done twice, nothing is lost."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import timedelta
from math import ceil
from typing import NamedTuple, assert_never

from ..delivery import Delivery
from ..faults import FAILED_QUEUE
from ..observe import written
from ..settlements import Complete, Forward, Redeliver, Settlement
from .client import Broker
from .copies import Copy, batches, copy_of
from .destinations import destination
from .queues import Queue

log = logging.getLogger("recoverable.settlement")

UNTIL_TAKEN = "it is redelivered until the redrive policy takes it"
OWN_ERROR_QUEUE = f"its error queue '{{}}' is the queue it came from; {UNTIL_TAKEN}"
TOO_LARGE = f"a copy would be larger than SQS takes; {UNTIL_TAKEN}"

Settled = Iterable[tuple[Delivery, Settlement]]


class Work(NamedTuple):
    """The settlements of a group, sorted by what the broker must do."""

    copies: list[Copy]
    done: list[Delivery]
    again: list[tuple[Delivery, timedelta | None]]


def settle(
    settled: Settled, broker: Broker, *, longest_visibility: float, complete_now: bool
) -> list[Delivery]:
    """Do with the broker what was decided about a group.

    Args:
        settled: the deliveries and their settlements.
        broker: the queue's broker.
        longest_visibility: seconds for which a message can still be kept out of sight.
        complete_now: whether what is done with is deleted here, or left to the event source mapping.

    Returns:
        The deliveries that are not done with: they belong into `batchItemFailures`.
    """
    work = sorted_out(settled, broker)
    soon, unsent = work.copies, list[Delivery]()
    if broker.timeouts is not None:
        from .later import put_off  # noqa: PLC0415  # imported for those who store

        soon, unsent = put_off(work.copies, broker.timeouts, broker)
    unsent += [delivery for batch in batches(soon) for delivery in forwarded(batch, broker)]
    if complete_now:
        broker.delete(work.done)
    broker.show_again(timed(work.again, longest_visibility))
    return [*unsent, *(delivery for delivery, _ in work.again)]


def forwarded(batch: list[Copy], broker: Broker) -> list[Delivery]:
    """Send the copies and at once delete what they were made of; the deliveries whose copy was not confirmed come back."""
    sent = broker.send(batch)
    broker.delete(sent)
    return [copy.delivery for copy in batch if copy.delivery not in sent]


def sorted_out(settled: Settled, broker: Broker) -> Work:
    """Who is to be copied, deleted or shown again."""
    work = Work([], [], [])
    for delivery, settlement in settled:
        match settlement:
            case Complete():
                work.done.append(delivery)
            case Redeliver(after=after):
                work.again.append((delivery, after))
            case Forward():
                try_to_forward(delivery, settlement, broker, work)
            case _:
                assert_never(settlement)
    return work


def try_to_forward(delivery: Delivery, settlement: Forward, broker: Broker, work: Work) -> None:
    """As `forward`; what no copy can be made of, whatever the reason, stays, and its neighbours do not suffer for it."""
    try:
        forward(delivery, settlement, broker, work)
    except Exception as error:  # noqa: BLE001  # such as attributes that no client of SQS wrote; it is told, and the message comes back
        text = "no copy for '{}' can be made ({}); it stays, and comes back after its visibility timeout"
        tell(delivery, text.format(settlement.to, type(error).__name__))
        work.again.append((delivery, None))


def forward(delivery: Delivery, settlement: Forward, broker: Broker, work: Work) -> None:
    """A copy for the work; or, where none can be made, a redelivery, so that the broker's redrive policy takes the message in the end.

    Such a redelivery is never at once: without a redrive policy it would go on without a pause.
    """
    to = destination(settlement.to, broker.queue)
    if FAILED_QUEUE in settlement.changes and is_same(to, broker.queue):
        tell(delivery, OWN_ERROR_QUEUE.format(to.name))
        work.again.append((delivery, None))
    elif (copy := copy_of(delivery, settlement, source=broker.queue, to=to)) is None:
        tell(delivery, TOO_LARGE)
        work.again.append((delivery, settlement.delay or None))
    else:
        work.copies.append(copy)


def is_same(one: Queue, other: Queue) -> bool:
    """Whether both are the same queue, however they were named."""
    return (one.region, one.account, one.name) == (other.region, other.account, other.name)


def timed(
    again: list[tuple[Delivery, timedelta | None]], longest_visibility: float
) -> list[tuple[Delivery, int]]:
    """Those whose time to come back is told, in whole seconds: never early, and no more than SQS takes."""
    most = int(longest_visibility)
    return [
        (delivery, min(ceil(after.total_seconds()), most)) for delivery, after in again if after is not None
    ]


def tell(delivery: Delivery, what: str) -> None:
    """Log what becomes of a message that could not be settled as decided."""
    message = delivery.message
    extra = {"message_id": message.id, "queue": message.queue}
    written(log.warning, "Message '%s' of '%s': %s.", message.id, message.queue, what, extra=extra)
