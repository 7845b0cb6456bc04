"""Duplicate detection: the message ids that an entity has seen within its window."""

from __future__ import annotations

from collections import OrderedDict


class Duplicates:
    """Remembers ids for a while.

    Args:
        window: How long, in seconds.
    """

    def __init__(self, window: float) -> None:
        self._window = window
        self._seen: OrderedDict[str, float] = OrderedDict()

    def is_new(self, message_id: str, now: float) -> bool:
        """Whether the id was not seen within the window, which it is from now on."""
        while self._seen and next(iter(self._seen.values())) + self._window <= now:
            self._seen.popitem(last=False)
        if message_id in self._seen:
            return False
        self._seen[message_id] = now
        return True
