"""Hand back apart the messages of a batch that was delivered before: it outlived its locks, which the host does not renew, or its process ended."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from recoverable._ladder.delivery import granted

if TYPE_CHECKING:
    from recoverable._ladder.delivery import Delivery
    from recoverable.azure._processor import Processing

LONGEST_SPREAD = timedelta(minutes=15)
"""The most by which the messages of a batch that was delivered before are handed back apart."""


MOST_IN_COMPANY = 10
"""Deliveries without a recorded outcome in a batch with others, after which a message counts as failed even so."""


def hand_back_apart(work: Processing, lock: timedelta) -> None:
    """Hand back those of a batch that were delivered before, so that they come back one by one, and each time further apart.

    One of them may be too long for the lock, or end its process, and nobody can say which: together the others would run with it again
    and again. Alone it is counted as everywhere.

    Args:
        work: what the invocation works with.
        lock: how far apart they come back after the first time; all within 15 minutes.
    """
    max_immediate = work.settings.recoverability.immediate.max_retries
    again = [each for each in work.deliveries if was_delivered_before(each, max_immediate)]
    if not again:
        return
    from recoverable._flow.settle import hand_back  # noqa: PLC0415  # most batches have none

    for place, delivery in enumerate(again):
        delay = min(place * (1 + delivery.prior_attempts) * lock, LONGEST_SPREAD)
        settlement = hand_back(delivery, work.invocation, delay, reason="it was delivered before with others")
        work.invocation.settle(delivery, settlement)


def was_delivered_before(delivery: Delivery, max_immediate: int) -> bool:
    """True if earlier deliveries of a message ended without its settlement, not so often that it counts, and its handler could run now."""
    most = max(MOST_IN_COMPANY, 3 * (granted(delivery, max_immediate) + 1))
    is_judged = delivery.unreported and delivery.prior_attempts >= most
    return delivery.deliveries > 1 and not (is_judged or delivery.given_up or delivery.due_at)
