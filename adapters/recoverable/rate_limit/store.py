"""Keep the circuit: in memory, or in a store that instances share; and go on without the store while it does not answer."""

from __future__ import annotations

from datetime import timedelta
from os import urandom
from threading import Lock

from recoverable.limits import NO_DELAY
from recoverable.rate_limit.settings import StoreUnavailable
from recoverable.rate_limit.state import CLOSED, Closed, Open, Snapshot, transition

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor
    from datetime import datetime
    from typing import Literal, TypeAlias, TypeVar

    from recoverable.rate_limit.settings import CircuitStore, RateLimit
    from recoverable.rate_limit.state import Circuit

    T = TypeVar("T")
    Log: TypeAlias = Callable[[Literal["info", "warning"], str], None]

MAX_TRIES = 3
"""How often one success tries to close the circuit while other instances change it too; then one of them closes it."""

LEAVE_ALONE_FOR = timedelta(seconds=10)
"""How long a store that could not be read is not asked again, or each invocation would pay for its silence."""


class MemoryCircuit:
    """A circuit that only this instance knows, safe between threads: of several that change one version, one does."""

    def __init__(self) -> None:
        self._snapshot, self._lock = Snapshot(CLOSED, 0), Lock()

    def read(self) -> Snapshot:
        """Return the circuit as it is."""
        return self._snapshot

    def compare_and_set(self, snapshot: Snapshot, circuit: Circuit, switch: str = "") -> Snapshot | None:
        """Change the circuit if it still is as in the snapshot; None when it is not."""
        with self._lock:
            if not isinstance(snapshot.version, int) or snapshot.version != self._snapshot.version:
                return None
            self._snapshot = Snapshot(circuit, snapshot.version + 1, switch)
            return self._snapshot


def call_within(timeout: float, executor: Executor, call: Callable[[], T]) -> T:
    """Return the result of a call that is made in a thread: looking up a name or fetching a token, for two, knows no time-out of ours.

    Args:
        timeout: seconds to wait for it.
        executor: the thread; with one, a call that hangs keeps those after it waiting, which are given up as soon.
        call: the call.

    Raises:
        TimeoutError: there is no result in time. What the call raises passes as it is.
    """
    future = executor.submit(call)
    try:
        return future.result(timeout)
    finally:
        future.cancel()  # what was given up and has not begun must not be done later


class Breaker:
    """The circuit as one instance knows it; the one thing on an endpoint that changes.

    No call raises for a store that fails: no message may lose its attempt to a store of whatever kind.

    Args:
        limit: the settings.
        log: takes what is to be logged.
    """

    __slots__ = ("_lock", "_may_limit_others", "_retry_at", "_store", "_unheard", "alert", "limit", "log", "snapshot")  # fmt: skip

    def __init__(self, limit: RateLimit, log: Log) -> None:
        self.limit, self.log = limit, log
        self._store: CircuitStore = limit.store or MemoryCircuit()
        self._lock = Lock()
        self._retry_at: datetime | None = None  # None while the store answers
        self._may_limit_others = False  # as far as this instance knows, in the store
        self._unheard: Snapshot | None = None  # a switch of ours whose answer was lost
        self.snapshot = Snapshot()
        self.alert = False
        """True if anything failed since the last success, or the store may still limit others: all that a message that succeeds looks at."""

    def is_unavailable(self) -> bool:
        """True if the store could not be asked when it was asked last."""
        return self._retry_at is not None

    def update(self, snapshot: Snapshot) -> None:
        """Take this for the circuit from now on."""
        troubled = isinstance(snapshot.circuit, Open) or snapshot.circuit.failures > 0
        with self._lock:  # what one thread saw and another's alert must not be kept together
            self.snapshot = snapshot
            self.alert = troubled or self._may_limit_others  # who closed it alone must still tell the store

    def refresh(self, now: datetime) -> None:
        """Read the store. The failures in a row are this instance's own, and start anew when another instance closed the circuit."""
        if self._retry_at is not None and now < self._retry_at:
            return
        try:
            found = self._store.read()
        except Exception as error:  # noqa: BLE001  # logged
            self._leave_alone(error, now, LEAVE_ALONE_FOR)
            return
        self._retry_at, self._may_limit_others = None, isinstance(found.circuit, Open)
        own = self.snapshot.circuit
        both_closed = isinstance(found.circuit, Closed) and isinstance(own, Closed)
        self.update(Snapshot(own, found.version, found.switch) if both_closed else found)
        self._report_unheard(found)

    def compare_and_set(self, snapshot: Snapshot, circuit: Circuit, now: datetime) -> Snapshot | None:
        """Change the circuit for all; None when another instance was faster. Without a store, change it for this instance alone.

        What became of a switch that was refused or not answered, the store knows, and is asked at once: this instance may not live to ask later.
        """
        if self.is_unavailable():
            return Snapshot(circuit)
        switches = isinstance(circuit, Open) != isinstance(snapshot.circuit, Open)
        switch = urandom(8).hex() if switches else snapshot.switch
        changed = self._change(snapshot, circuit, switch, now)
        if changed is None and switches:
            self._unheard = Snapshot(circuit, switch=switch)
            self.refresh(now)
        return Snapshot(circuit) if self.is_unavailable() else changed

    def failed(self, now: datetime) -> None:
        """Count a failed attempt that was no probe, and open the circuit when it is one too many."""
        snapshot = self.snapshot
        circuit = transition(snapshot.circuit, "failed", self.limit, now)
        if isinstance(circuit, Closed):
            self.update(Snapshot(circuit, snapshot.version))
        elif isinstance(snapshot.circuit, Closed):
            changed = self.compare_and_set(snapshot, circuit, now)
            if changed is not None:
                self.update(changed)
                self._report_opened()

    def succeeded(self, now: datetime) -> None:
        """Close the circuit, whatever another instance made of it in between."""
        for _ in range(MAX_TRIES):
            snapshot = self.snapshot
            if isinstance(snapshot.circuit, Closed):
                break
            if (changed := self.compare_and_set(snapshot, CLOSED, now)) is not None:
                self.update(changed)
                self._report_closed(max(now - snapshot.circuit.since, NO_DELAY))  # another's clock may be ahead
                return
        self.update(Snapshot(CLOSED, self.snapshot.version))

    def _change(self, snapshot: Snapshot, circuit: Circuit, switch: str, now: datetime) -> Snapshot | None:
        """Change the store; None when it refuses, or gives no answer, and may have done it."""
        try:
            changed = self._store.compare_and_set(snapshot, circuit, switch)
        except Exception as error:  # noqa: BLE001  # logged
            changed = None
            self._leave_alone(error, now, NO_DELAY)
        # what gave no answer may be done, whatever another thread read in between
        self._may_limit_others = isinstance(circuit, Open) or (changed is None and self._may_limit_others)
        return changed

    def _leave_alone(self, error: Exception, now: datetime, time: timedelta) -> None:
        self._retry_at = now + time
        # an error that is not ours may quote what is secret
        why = str(error) if isinstance(error, StoreUnavailable) else type(error).__name__
        when = f"after {time}" if time else "when it must know"
        self.log("warning", f"The circuit's store cannot be asked: {why}. As a result, this instance limits its rate by what it knows itself, and asks again {when}.")  # fmt: skip

    def _report_unheard(self, found: Snapshot) -> None:
        """Report a switch that was ours, though its answer was lost; the store may even have made it later."""
        with self._lock:
            switch = self._unheard
            if switch is None or switch.switch != found.switch:
                return
            self._unheard = None
        opened = isinstance(switch.circuit, Open)
        self.log("info", f"The circuit breaker was {'armed' if opened else 'disarmed'} by this instance, though the store's answer was lost.")  # fmt: skip
        self._call("on_started" if opened else "on_ended")

    def _report_opened(self) -> None:
        self.log("warning", f"The circuit breaker is now in the armed state: {self.limit.consecutive_failures} attempts in a row failed. One message is attempted every {self.limit.wait}, the others are deferred.")  # fmt: skip
        self._call("on_started")

    def _report_closed(self, after: timedelta) -> None:
        self.log("info", f"The circuit breaker is now disarmed, {after} after it was armed: an attempt succeeded.")  # fmt: skip
        self._call("on_ended")

    def _call(self, name: Literal["on_started", "on_ended"]) -> None:
        callback = getattr(self.limit, name)
        if callback is None or self.is_unavailable():  # the callbacks are the shared circuit's
            return
        try:
            callback()
        except KeyboardInterrupt:
            raise  # somebody wants the process to stop
        except BaseException as error:  # noqa: BLE001  # logged; the messages are settled as if it had not raised
            self.log("warning", f"RateLimit({name}) raised {type(error).__name__}. As a result, what it was to do is not done; the messages do not suffer.")  # fmt: skip
