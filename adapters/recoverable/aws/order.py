"""Order the records of one invocation, so that a message that kills its process takes none of its neighbours along."""

from __future__ import annotations

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from recoverable.recovery.delivery import Delivery


def groups(deliveries: list[Delivery], *, fifo: bool) -> list[list[Delivery]]:
    """Return the deliveries in groups, each to be settled before the next one runs.

    What comes for the first time runs together; what was delivered before may have killed its process, and runs alone.
    A FIFO queue's records run alone, in the queue's order.
    """
    if fifo:
        return [[delivery] for delivery in deliveries]
    again = [delivery for delivery in deliveries if delivery.deliveries > 1]
    if not again:
        return [held_longest_first(deliveries)]
    fresh = [delivery for delivery in deliveries if delivery.deliveries == 1]
    return [*([held_longest_first(fresh)] if fresh else []), *([delivery] for delivery in rotated(again))]


def held_longest_first(deliveries: list[Delivery]) -> list[Delivery]:
    """Return what is deferred for longest first, then the rest as it came."""
    if any([delivery.held_since for delivery in deliveries]):  # noqa: C419  # a generator would cost each good record more
        return sorted(deliveries, key=lambda delivery: (delivery.held_since is None, delivery.held_since))
    return deliveries


def rotated(deliveries: list[Delivery]) -> list[Delivery]:
    """Return the deliveries by message id, cyclically, starting one place further with each delivery.

    A fixed order, or one that merely alternates, would let two killers use up the attempts of what lies between them;
    with this one each message runs before the others once in a while.
    """
    by_id = sorted(deliveries, key=lambda delivery: (delivery.message.id, delivery.message.native["messageId"]))
    furthest = max(delivery.deliveries + delivery.prior_attempts + delivery.message.round for delivery in by_id)
    place = furthest % len(by_id)
    return by_id[place:] + by_id[:place]
