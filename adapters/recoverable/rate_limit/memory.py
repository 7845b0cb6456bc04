"""Keep the circuit of one instance in memory."""

from __future__ import annotations

from threading import Lock

from recoverable.rate_limit.state import CLOSED, Snapshot

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from recoverable.rate_limit.state import Circuit


class MemoryCircuit:
    """A circuit of this instance alone. Threads may share it: when several change one version, one of them does."""

    def __init__(self) -> None:
        self._snapshot, self._lock = Snapshot(CLOSED, 0), Lock()

    def read(self) -> Snapshot:
        """Return the circuit as it is."""
        return self._snapshot

    def compare_and_set(self, snapshot: Snapshot, circuit: Circuit, switch: str = "") -> Snapshot | None:
        """Change the circuit if it is still as in the snapshot; return None when it is not."""
        with self._lock:
            if not isinstance(snapshot.version, int) or snapshot.version != self._snapshot.version:
                return None
            self._snapshot = Snapshot(circuit, snapshot.version + 1, switch)
            return self._snapshot
