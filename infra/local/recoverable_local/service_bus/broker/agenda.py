"""What is to happen later, in the order of time; it keeps no clock of its own."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable

Clock = Callable[[], float]
"""The time, in seconds since 1970."""


class Agenda:
    """Entries with their times, in seconds since 1970; whoever made one checks, when it is due, whether it still matters."""

    def __init__(self) -> None:
        self._entries: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()

    def at(self, when: float, act: Callable[[], None]) -> None:
        """Note what is to happen."""
        heapq.heappush(self._entries, (when, next(self._order), act))

    def next_due(self) -> float | None:
        """When something is to happen next."""
        return self._entries[0][0] if self._entries else None

    def run(self, now: float) -> None:
        """Do all that is due."""
        while self._entries and self._entries[0][0] <= now:
            _, _, act = heapq.heappop(self._entries)
            act()
