"""A way to SQS on which single calls go wrong, as they are told to."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

from aws.faulty_proxy import FailEntry, Fault, FaultyProxy, HangUp, LoseAnswer, Refuse
from soak.pranks import Prank

_VICTIMS = {"ReceiveMessage", "SendMessageBatch", "DeleteMessageBatch", "ChangeMessageVisibilityBatch"}

BUSY = Refuse("ServiceUnavailable", 503)


class UnreliableProxy(FaultyProxy):
    """Spoils the next call of functions and of the event source mapping, once for each fault that is put in its way."""

    def __init__(self, upstream: str) -> None:
        super().__init__(upstream)
        self._next: deque[Fault] = deque()
        self._server.handle_error = _unsaid  # type: ignore[method-assign]

    def fault_of(self, operation: str, body: bytes) -> Fault | None:
        """The fault that waits, unless the call has no entries and the fault wants one."""
        super().fault_of(operation, body)
        with self._lock:
            if operation not in _VICTIMS or not self._next:
                return None
            if isinstance(self._next[0], FailEntry) and operation == "ReceiveMessage":
                return None
            return self._next.popleft()

    def prank(self, fault: Fault) -> Prank:
        """A prank that puts a fault in the way of the next call."""

        def play(_: random.Random) -> bool:
            self._next.append(fault)
            return True

        return play

    def pranks(self) -> dict[str, Prank]:
        """All that can go wrong on the way."""
        return {
            "calls whose connection dropped before": self.prank(HangUp()),
            "calls whose answer was lost": self.prank(LoseAnswer()),
            "calls refused by a busy broker": self.prank(BUSY),
            "batches of which an entry was refused": self.prank(FailEntry()),
        }


def _unsaid(request: Any, client_address: Any) -> None:
    """Nothing: a host that is killed resets its connections."""
