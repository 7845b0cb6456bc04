"""A store of circuits in virtual time, that can be away or slow for a while."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from rate_limit.outage import World
from recoverable import StoreUnavailable
from recoverable._rate_limit.store import MemoryCircuit

if TYPE_CHECKING:
    from recoverable._rate_limit.state import Circuit, Snapshot

LATENCY, TIMEOUT = 0.005, 0.2
"""Seconds of a call, and those after which the store's client gives up."""

Trouble = Literal["away", "slow"]


class VirtualStore(MemoryCircuit):
    """A circuit for all instances of a world.

    Args:
        world: whose time its calls take.
        trouble: "away", or "slow": it does then what it was asked, but nobody waits for its answer.
        minutes: when the trouble starts and ends.
    """

    def __init__(self, world: World, trouble: Trouble = "away", minutes: tuple[float, float] = (0.0, 0.0)) -> None:
        super().__init__()
        self._world, self._trouble = world, trouble
        self._starts, self._ends = (world.now + timedelta(minutes=each) for each in minutes)
        self.calls = 0

    def read(self) -> Snapshot:
        """Read after a while, or not."""
        self._called()
        self._world.spend(LATENCY)
        return super().read()

    def compare_and_set(self, seen: Snapshot, circuit: Circuit, switch: str = "") -> Snapshot | None:
        """Change after a while, or not, or nobody knows."""
        if self._trouble == "slow" and self._in_trouble():
            super().compare_and_set(seen, circuit, switch)
        self._called()
        self._world.spend(LATENCY)
        return super().compare_and_set(seen, circuit, switch)

    def circuit(self) -> Circuit:
        """Return what it holds, without counting a call."""
        return super().read().circuit

    def _in_trouble(self) -> bool:
        return self._starts <= self._world.now < self._ends

    def _called(self) -> None:
        self.calls += 1
        if self._in_trouble():
            self._world.spend(TIMEOUT)
            raise StoreUnavailable(f"it is {self._trouble}")
