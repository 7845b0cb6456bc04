"""Order the records of one invocation from a FIFO queue: each message group in its order, and groups of suspects last."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from recoverable._ladder.delivery import Delivery, Redeliver
from recoverable._limits import NO_DELAY
from recoverable.aws._fifo.receipt import is_suspect, receives, settle_on_receipt
from recoverable.aws._order import hidden_for

if TYPE_CHECKING:
    from recoverable._flow.invocation import Invocation
    from recoverable.aws._order import Group
    from recoverable.aws._time_budget import TimeBudget

log = logging.getLogger("recoverable")

MessageGroup: TypeAlias = list[Delivery]
"""The records of one message group, in its order."""

HELD_BACK = "A batch of %d records from the FIFO queue '%s': what is held back uses up deliveries. Set the event source mapping's BatchSize to 1."


def groups(
    deliveries: list[Delivery], unfinished: list[Delivery], invocation: Invocation, time: TimeBudget
) -> Iterator[Group]:
    """Yield the deliveries one by one, each to be settled before the next one is asked for; see `order.Group`.

    First comes what needs no handler at the head of its group, then the groups in the queue's order, those of suspects last. What
    is behind a record of its group that is not finished comes back with it.

    Args:
        deliveries: the records, in the queue's order.
        unfinished: takes the records that were settled and come back; it grows while this runs.
        invocation: what they run in.
        time: the invocation's time.
    """
    now, hidden = invocation.clock(), hidden_for(time)
    by_group = message_groups(deliveries)
    if len(deliveries) > 1:
        log.warning(HELD_BACK, len(deliveries), deliveries[0].message.queue)
        forgive_held_back(by_group, now, hidden)
    for delivery in deliveries:
        if (settlement := settle_on_receipt(delivery, invocation, time.total)) is not None:
            invocation.settle(delivery, settlement)
    if settled := [group.pop(0) for group in by_group if invocation.settlement_of(group[0]) is not None]:
        yield settled, False
    for group in suspects_last([group for group in by_group if group], now, hidden):
        for delivery in group:
            if invocation.settlement_of(delivery) is None and must_keep_order(delivery, unfinished):
                invocation.settle(delivery, Redeliver(NO_DELAY))
            yield [delivery], invocation.settlement_of(delivery) is None


def message_groups(deliveries: list[Delivery]) -> list[MessageGroup]:
    """Return the records by message group, each in the queue's order."""
    found: dict[str | None, MessageGroup] = {}
    for delivery in deliveries:
        found.setdefault(delivery.message.group_id, []).append(delivery)
    return list(found.values())


def forgive_held_back(by_group: list[MessageGroup], now: datetime, hidden: float) -> None:
    """Count no delivery as unreported of a record that may have been held back: behind another one, or for lack of time."""
    for group in by_group:
        for place, delivery in enumerate(group):
            if place > 0 or not is_suspect(delivery, now, hidden):
                delivery.unreported = False


def must_keep_order(delivery: Delivery, unfinished: list[Delivery]) -> bool:
    """True if a record is behind one of its group that comes back: it must come back too, or the order is lost."""
    return delivery.message.group_id in {each.message.group_id for each in unfinished}


def suspects_last(by_group: list[MessageGroup], now: datetime, hidden: float) -> list[MessageGroup]:
    """Return the groups without a suspect as they came; then the others, in another order at each delivery.

    Of the others those come first whose records were received least often. Groups that were received equally often may have come
    back together, because a record of one of them ended the process.
    """
    suspects = [group for group in by_group if is_suspect(group[0], now, hidden)]
    by_receives: dict[int, list[MessageGroup]] = {}
    for group in suspects:
        by_receives.setdefault(receives(group[0]), []).append(group)
    ordered = [group for _, alike in sorted(by_receives.items()) for group in rotated(alike)]
    return [group for group in by_group if group not in suspects] + ordered


def rotated(alike: list[MessageGroup]) -> list[MessageGroup]:
    """Return the groups by name, cyclically, starting one place further with each attempt.

    So an attempt starts right behind the record that ended the attempt before: one such record costs the other groups two
    attempts at most, two cost three, and so on. A delivery that only waited for its round is no attempt.
    """
    by_name = sorted(alike, key=lambda group: group[0].message.group_id or "")
    head = by_name[0][0]
    place = max(receives(head) - head.message.round - 2, 0) % len(by_name)
    return by_name[place:] + by_name[:place]
