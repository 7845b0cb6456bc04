"""A proxy before SQS that lets the next call of functions and of the event source mapping fail, when a soak wants it."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

from recoverable_local.testing import AnswerLost, PartlyFailed, Refused, Unreachable
from servers.faulty_proxy import Fault, FaultyProxy
from soak.pranks import Prank

_VICTIMS = {"ReceiveMessage", "SendMessageBatch", "DeleteMessageBatch", "ChangeMessageVisibilityBatch"}

BUSY = Refused("ServiceUnavailable", status=503)


class UnreliableProxy(FaultyProxy):
    """Lets one call fail for each fault that is added, in their order."""

    def __init__(self, upstream: str) -> None:
        super().__init__(upstream)
        self._next: deque[Fault] = deque()
        self._server.handle_error = _ignore_error  # type: ignore[method-assign]

    def fault_for(self, operation: str, entries: int) -> Fault | None:
        """Return the fault that waits, unless the call has no entries and the fault needs one."""
        super().fault_for(operation, entries)
        with self._lock:
            if operation not in _VICTIMS or not self._next:
                return None
            if isinstance(self._next[0], PartlyFailed) and operation == "ReceiveMessage":
                return None
            return self._next.popleft()

    def prank(self, fault: Fault) -> Prank:
        """Return a prank that lets the next call fail."""

        def play(_: random.Random) -> bool:
            self._next.append(fault)
            return True

        return play

    def pranks(self) -> dict[str, Prank]:
        """Return all that can go wrong between a client and SQS."""
        return {
            "calls whose connection dropped before": self.prank(Unreachable()),
            "calls whose answer was lost": self.prank(AnswerLost()),
            "calls refused by a busy broker": self.prank(BUSY),
            "batches of which an entry was refused": self.prank(PartlyFailed()),
        }


def _ignore_error(request: Any, client_address: Any) -> None:
    """Do nothing: a host that is killed resets its connections."""
