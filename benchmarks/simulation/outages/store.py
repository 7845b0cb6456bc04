"""The circuit that simulated instances share: what a table would be, as far as time and cost go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from recoverable._rate_limit.state import Circuit, Snapshot
from recoverable._rate_limit.store import MemoryCircuit

STORE_TIME = 0.005
"""Seconds of the world's time that a call to the store takes, assumed."""


class SharedCircuit(MemoryCircuit):
    """A circuit for all instances.

    Args:
        take: lets time pass.
    """

    def __init__(self, take: Callable[[float], object]) -> None:
        super().__init__()
        self._take = take
        self.calls: Counter[str] = Counter()

    def read(self) -> Snapshot:
        """Count, and read."""
        self.calls["read"] += 1
        self._take(STORE_TIME)
        return super().read()

    def compare_and_set(self, seen: Snapshot, circuit: Circuit, switch: str = "") -> Snapshot | None:
        """Count, and change."""
        self.calls["write"] += 1
        self._take(STORE_TIME)
        return super().compare_and_set(seen, circuit, switch)
