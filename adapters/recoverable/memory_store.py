"""The circuit that one instance keeps for itself: what a rate limit without a store has."""

from __future__ import annotations

from threading import Lock

from .circuit import NORMAL, Seen

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from .circuit import Circuit


class MemoryCircuit:
    """A circuit that only this instance knows, safe between threads: of several that change one version, one does."""

    def __init__(self) -> None:
        self._seen, self._lock = Seen(NORMAL, 0), Lock()

    def read(self) -> Seen:
        """The circuit as it is."""
        return self._seen

    def compare_and_set(self, seen: Seen, circuit: Circuit, switch: str = "") -> Seen | None:
        """Change the circuit, if it still is as it was seen."""
        with self._lock:
            if not isinstance(seen.version, int) or seen.version != self._seen.version:
                return None
            self._seen = Seen(circuit, seen.version + 1, switch)
            return self._seen
