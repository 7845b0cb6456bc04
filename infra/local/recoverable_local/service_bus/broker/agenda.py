"""Schedule actions for later and run those that are due; the caller passes the time."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable

Clock = Callable[[], float]
"""Returns the time, in seconds since 1970."""


class Agenda:
    """Actions with their times, in seconds since 1970. An action cannot be cancelled: it checks itself if it still applies."""

    def __init__(self) -> None:
        self._entries: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()

    def at(self, when: float, act: Callable[[], None]) -> None:
        """Schedule an action."""
        heapq.heappush(self._entries, (when, next(self._order), act))

    def next_due(self) -> float | None:
        """Return the time of the next action; None if there is none."""
        return self._entries[0][0] if self._entries else None

    def run(self, now: float) -> None:
        """Run all actions that are due."""
        while self._entries and self._entries[0][0] <= now:
            _, _, act = heapq.heappop(self._entries)
            act()
