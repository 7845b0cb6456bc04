"""Settles with the broker what recovery decided: send the copies first, then complete; nothing is done twice, nothing is lost."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import timedelta
from math import ceil
from typing import NamedTuple, assert_never

from ..delivery import Delivery
from ..limits import NO_DELAY
from ..settlements import Complete, Forward, Redeliver, Settlement
from .client import Broker
from .copies import Copy, copy_of
from .queues import destination

log = logging.getLogger("recoverable.settlement")

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
    unsent = {id(copy.delivery): copy for copy in broker.send(work.copies)} if work.copies else {}
    for copy in unsent.values():
        tell(
            copy.delivery,
            f"its copy to '{copy.to.name}' could not be sent; it comes back after its visibility timeout",
        )
    sent = [copy.delivery for copy in work.copies if id(copy.delivery) not in unsent]
    complete(sent + (work.done if complete_now else []), broker)
    show_again(work.again, broker, longest_visibility)
    return [*(copy.delivery for copy in unsent.values()), *(delivery for delivery, _ in work.again)]


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
                forward(delivery, settlement, broker, work)
            case _:
                assert_never(settlement)
    return work


def forward(delivery: Delivery, settlement: Forward, broker: Broker, work: Work) -> None:
    """A copy for the work; or, where none can be made, a redelivery, so that the broker's redrive policy takes the message in the end."""
    to = destination(settlement.to, broker.queue)
    leaves_for_good = "NServiceBus.FailedQ" in settlement.changes
    if leaves_for_good and (to.account, to.name) == (broker.queue.account, broker.queue.name):
        tell(
            delivery,
            f"its error queue '{to.name}' is the queue it came from; it is redelivered until the redrive policy takes it",
        )
        work.again.append((delivery, NO_DELAY))
    elif (copy := copy_of(delivery, settlement, source=broker.queue, to=to)) is None:
        tell(
            delivery,
            "a copy would be larger than SQS takes; it is redelivered until the redrive policy takes it",
        )
        work.again.append((delivery, settlement.delay))
    else:
        work.copies.append(copy)


def complete(deliveries: list[Delivery], broker: Broker) -> None:
    """Delete what is done with; where that fails, the event source mapping deletes it, since it is not reported."""
    if deliveries:
        broker.delete([delivery.message.native for delivery in deliveries])


def show_again(
    again: list[tuple[Delivery, timedelta | None]], broker: Broker, longest_visibility: float
) -> None:
    """Bring the messages back when they are wanted; where that fails, the visibility timeout brings them."""
    timed = [
        (delivery.message.native, seconds(after, longest_visibility))
        for delivery, after in again
        if after is not None
    ]
    if timed:
        broker.show_again(timed)


def seconds(after: timedelta, most: float) -> int:
    """Whole seconds, never early, and no more than SQS takes."""
    return min(ceil(after.total_seconds()), int(most))


def tell(delivery: Delivery, what: str) -> None:
    """Log what becomes of a message that could not be settled as decided."""
    message = delivery.message
    log.warning(
        "Message '%s' of '%s': %s.",
        message.id,
        message.queue,
        what,
        extra={"message_id": message.id, "queue": message.queue},
    )
