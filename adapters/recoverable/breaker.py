"""The circuit as one instance knows it: it asks and changes the shared one, and tells who is to hear of each switch."""

from __future__ import annotations

from os import urandom
from threading import Lock

from .circuit import NORMAL, Limited, Normal, Seen, after
from .fail_open import FailOpenStore
from .frozen import Frozen
from .limits import NO_DELAY
from .memory_store import MemoryCircuit

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, timedelta
    from typing import Literal

    from .circuit import Circuit
    from .rate_limit import RateLimit

SWAPS = 3
"""How often one success tries to end limiting while other instances change the circuit too; then one of them ends it."""


class Notice(Frozen):
    """What the log is to be told.

    Args:
        level: "info" or "warning".
        text: the line.
    """

    __slots__ = ("level", "text")
    level: Literal["info", "warning"]
    text: str

    def __init__(self, level: Literal["info", "warning"], text: str) -> None:
        self._assign(level=level, text=text)


class Breaker:
    """What this instance knows of the circuit; the one thing on an endpoint that changes.

    Args:
        limit: the settings.
        tell: takes what the log is to be told.
    """

    __slots__ = ("_lock", "_store", "_unheard", "alert", "limit", "seen", "tell")

    def __init__(self, limit: RateLimit, tell: Callable[[Notice], None]) -> None:
        self.limit, self.tell = limit, tell
        self._store = FailOpenStore(limit.store or MemoryCircuit(), self._warn)
        self._lock = Lock()
        self._unheard: Seen | None = None
        self.seen = Seen()
        self.alert = False
        """Whether anything failed since the last success, or the store may still limit others: all that a message that succeeds looks at."""

    def know(self, seen: Seen) -> None:
        """Take this for the circuit from now on."""
        troubled = isinstance(seen.circuit, Limited) or seen.circuit.failures > 0
        with self._lock:  # what one thread saw and another's alert must not be kept together
            self.seen = seen
            self.alert = troubled or self._store.may_limit  # who ended it alone must still tell the store

    def look(self, now: datetime) -> None:
        """Ask the store. The failures in a row are this instance's own, and start anew when limiting ended elsewhere."""
        if (found := self._store.read(now)) is None:
            return
        mine = self.seen.circuit
        both_normal = isinstance(found.circuit, Normal) and isinstance(mine, Normal)
        self.know(Seen(mine, found.version, found.switch) if both_normal else found)
        self._hear(found)

    def swap(self, seen: Seen, circuit: Circuit, now: datetime) -> Seen | None:
        """Change the circuit for all; None when another instance was faster. Without a store, for this instance alone.

        What became of a switch that was refused or not answered, the store knows, and is asked at once: this instance may not live to ask later.
        """
        if self._store.is_away():
            return Seen(circuit)
        switches = isinstance(circuit, Limited) != isinstance(seen.circuit, Limited)
        switch = urandom(8).hex() if switches else seen.switch
        changed = self._store.change(seen, circuit, switch, now)
        if changed is None and switches:
            self._unheard = Seen(circuit, switch=switch)
            self.look(now)
        return Seen(circuit) if self._store.is_away() else changed

    def failed(self, now: datetime) -> None:
        """An attempt failed that was no probe."""
        seen = self.seen
        circuit = after(seen.circuit, "failed", self.limit, now)
        if isinstance(circuit, Normal):
            self.know(Seen(circuit, seen.version))
        elif isinstance(seen.circuit, Normal) and (changed := self.swap(seen, circuit, now)) is not None:
            self.know(changed)
            self._started()

    def succeeded(self, now: datetime) -> None:
        """An attempt succeeded: whatever another instance made of the circuit in between, limiting ends."""
        for _ in range(SWAPS):
            seen = self.seen
            if isinstance(seen.circuit, Normal):
                break
            if (changed := self.swap(seen, NORMAL, now)) is not None:
                self.know(changed)
                self._ended(max(now - seen.circuit.since, NO_DELAY))  # another's clock may be ahead
                return
        self.know(Seen(NORMAL, self.seen.version))

    def _hear(self, found: Seen) -> None:
        """Tell of a switch that was ours, though its answer was lost; the store may even have made it later."""
        with self._lock:
            switch = self._unheard
            if switch is None or switch.switch != found.switch:
                return
            self._unheard = None
        limits = isinstance(switch.circuit, Limited)
        text = f"The circuit breaker was {'armed' if limits else 'disarmed'} by this instance, though the store's answer was lost."
        self.tell(Notice("info", text))
        self._call("on_started" if limits else "on_ended")

    def _started(self) -> None:
        text = f"The circuit breaker is now in the armed state: {self.limit.consecutive_failures} attempts in a row failed. One message is attempted every {self.limit.wait}, the others are deferred."
        self._warn(text)
        self._call("on_started")

    def _ended(self, after: timedelta) -> None:
        text = f"The circuit breaker is now disarmed, {after} after it was armed: an attempt succeeded."
        self.tell(Notice("info", text))
        self._call("on_ended")

    def _call(self, name: Literal["on_started", "on_ended"]) -> None:
        callback = getattr(self.limit, name)
        if callback is None or self._store.is_away():  # the callbacks are the shared circuit's
            return
        try:
            callback()
        except KeyboardInterrupt:
            raise  # somebody wants the process to stop
        except BaseException as error:  # noqa: BLE001  # told; the messages are settled as if it had not raised
            text = f"RateLimit({name}) raised {type(error).__name__}. As a result, what it was to do is not done; the messages do not suffer."
            self._warn(text)

    def _warn(self, text: str) -> None:
        self.tell(Notice("warning", text))
