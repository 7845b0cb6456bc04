"""Define an actor of a schedule, and what can fail for one."""

from __future__ import annotations

from _thread import allocate_lock
from collections import Counter
from datetime import datetime

STALLS = (5.0, 31.0, 61.0, 95.0, 200.0)
"""Seconds for which everything may stand still: less and more than half a lease, a lease, and a function's time."""

ALWAYS = ("killed", "stalled")
SENDING = ("send_message_batch", "batch_write_item", "mark_dispatched", "mark_migrated")
"""Calls whose mishaps can make a message come twice; a death or a stall can anywhere."""

BAD_LUCK = 3
"""Calls of an actor that makes only a few fail this many times as often."""


class Killed(BaseException):
    """Raised in an actor whose process has died."""


class Actor:
    """One participant of a schedule.

    Args:
        name: who it is.
        ready_at: when it goes on.
    """

    def __init__(self, name: str, ready_at: datetime) -> None:
        self.name, self.ready_at, self.over = name, ready_at, False
        self.dies_at: datetime | None = None
        self.mishaps: Counter[str] = Counter()
        self.turn = allocate_lock()
        self.turn.acquire()

    @property
    def busy(self) -> bool:
        """True if it is in a run, which ends sooner or later."""
        return self.dies_at is not None
