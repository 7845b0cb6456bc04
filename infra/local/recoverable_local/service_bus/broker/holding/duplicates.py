"""Detect duplicates: remember the message ids that an entity got within its window."""

from __future__ import annotations

from collections import OrderedDict


class Duplicates:
    """Remembers message ids.

    Args:
        window: How long an id is remembered, in seconds.
    """

    def __init__(self, window: float) -> None:
        self._window = window
        self._recent: OrderedDict[str, float] = OrderedDict()

    def is_new(self, message_id: str, now: float) -> bool:
        """Remember an id. True if it did not occur within the window before."""
        while self._recent and next(iter(self._recent.values())) + self._window <= now:
            self._recent.popitem(last=False)
        if message_id in self._recent:
            return False
        self._recent[message_id] = now
        return True
