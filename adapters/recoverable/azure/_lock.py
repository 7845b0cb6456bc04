"""Keep a batch within the locks of its messages: the host renews none of them, and says neither how long they last nor when they began.

A batch that outlives its locks is delivered again, beside itself. If it sent its copies all the same, each delivery would make copies of
its own, and each copy again: so it sends nothing any more.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from recoverable._flow.deadline import Deadline
from recoverable._flow.settle import hand_back

if TYPE_CHECKING:
    from recoverable._ladder.delivery import Delivery
    from recoverable.azure._processor import Processing

MARGIN = timedelta(seconds=5)
"""Time of a lock that may be over when the invocation begins, or that completing takes; of a short lock a tenth."""

LONGEST_SPREAD = timedelta(minutes=15)
"""The most by which the messages of a batch that was delivered before are handed back apart."""


class LockDeadline(Deadline):
    """The time that the handlers of a batch have: no alarm stops a plain one, because the worker runs it in a thread."""

    def seconds_left(self) -> float:
        """Return for how many seconds a handler may run that starts now, and set `ends` to when it must have ended."""
        seconds = self._seconds_for_handlers() if self._seconds_for_handlers else self.own_seconds
        self.ends = self.now() + seconds
        return seconds

    def arm(self) -> None:
        """Do nothing."""


def time_for_sends(lock: timedelta) -> timedelta:
    """Return for how long a batch may send from its beginning: until shortly before its locks end."""
    return lock - min(MARGIN, lock / 10)


def time_for_handlers(lock: timedelta, patience: timedelta) -> timedelta:
    """Return for how long handlers may start: so that copies can still leave, with their repetitions; at least half of the lock."""
    return max(time_for_sends(lock) - patience, lock / 2)


def hand_back_apart(work: Processing, lock: timedelta) -> None:
    """Hand back those of a batch that were delivered before, so that they come back one by one.

    One of them may be too long for the lock, or end its process: together with it the others would run again and again.

    Args:
        work: what the invocation works with.
        lock: how far apart they come back; all within 15 minutes.
    """
    again = [each for each in work.deliveries if was_delivered_before(each)]
    for place, delivery in enumerate(again):
        delay = min(place * lock, LONGEST_SPREAD)
        settlement = hand_back(delivery, work.invocation, delay, reason="it was delivered before with others")
        work.invocation.settle(delivery, settlement)


def was_delivered_before(delivery: Delivery) -> bool:
    """True if an earlier delivery of a message ended without its settlement, and its handler could run now."""
    return delivery.deliveries > 1 and not (delivery.unreported or delivery.given_up or delivery.due_at)
