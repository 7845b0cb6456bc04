"""Read and change the circuit of an instance or of several, and go on without the store while it does not answer.

`Breaker` is the circuit as one instance knows it, `MemoryCircuit` a store of one instance alone, and `SharedCalls` what stores of
several instances make their calls with.
"""

from __future__ import annotations

from datetime import timedelta
from os import urandom
from threading import Lock

from recoverable._errors import StoreUnavailable
from recoverable._limits import NO_DELAY, checked_delay
from recoverable._rate_limit.state import CLOSED, Closed, Open, Snapshot, transition

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future, ThreadPoolExecutor
    from datetime import datetime
    from typing import Any, Literal, TypeAlias, TypeVar

    from recoverable._rate_limit.settings import CircuitStore, RateLimit
    from recoverable._rate_limit.state import Circuit

    Key: TypeAlias = int | str | None
    Log: TypeAlias = Callable[[Literal["info", "warning"], str], None]
    T = TypeVar("T")

MAX_TRIES = 3
"""The number of times that one success tries to close the circuit while other instances change it too; after that,
another success closes it."""

MAX_UNCONFIRMED = 8
"""The number of switches that this instance keeps until the store confirms one: what it sent may still arrive late."""

LEAVE_ALONE_FOR = timedelta(seconds=10)
"""The time for which a store that could not be read is not called again: else each invocation would wait for its
time-out."""


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


class Breaker:
    """A circuit as one instance knows it: the only state of an endpoint that changes.

    No method raises when the store fails: no message may lose an attempt because of a store.

    Args:
        limit: the settings.
        log: writes a line to the log.
    """

    def __init__(self, limit: RateLimit, log: Log) -> None:
        self.limit, self.log = limit, log
        self._store: CircuitStore = limit.store or MemoryCircuit()
        self._lock, self._switching = Lock(), Lock()  # one thread at a time opens or closes the circuit
        self._retry_at: datetime | None = None  # None while the store answers
        self._may_limit_others = False  # True if the circuit may be open in the store, as far as this instance knows
        # switches by this instance that the store has not confirmed, by their names
        self._unconfirmed: dict[str, Circuit] = {}
        self.snapshot = Snapshot()
        self.alert = False
        """True if an attempt failed since the last success, or the store may still limit others. Success reads nothing
        else."""

    def is_unavailable(self) -> bool:
        """True if the last call of the store failed."""
        return self._retry_at is not None

    def update(self, snapshot: Snapshot) -> None:
        """Set this instance's snapshot of the circuit."""
        has_failures = isinstance(snapshot.circuit, Open) or snapshot.circuit.failures > 0
        with self._lock:  # snapshot and alert must be of the same thread
            self.snapshot = snapshot
            # a circuit that is closed here alone must still be closed in the store
            self.alert = has_failures or self._may_limit_others

    def refresh(self, now: datetime) -> None:
        """Read the store.

        The count of failures is this instance's own; it starts at 0 when another instance closed the circuit.
        """
        if self._retry_at is not None and now < self._retry_at:
            return
        try:
            found = self._store.read()
        except Exception as error:  # noqa: BLE001  # logged
            self._note_store_failure(error, now, LEAVE_ALONE_FOR)
            return
        self._retry_at, self._may_limit_others = None, isinstance(found.circuit, Open)
        own = self.snapshot.circuit
        both_closed = isinstance(found.circuit, Closed) and isinstance(own, Closed)
        self.update(Snapshot(own, found.version, found.switch) if both_closed else found)
        self._report_confirmed(found)

    def compare_and_set(self, snapshot: Snapshot, circuit: Circuit, now: datetime) -> Snapshot | None:
        """Change the circuit for all instances; return None when another one was faster.

        While the store fails, change it for this one alone.

        A switch that the store refuses or does not answer may have been made. So the store is read at once: this
        instance may end soon.
        """
        if self.is_unavailable():
            return Snapshot(circuit)
        switches = isinstance(circuit, Open) != isinstance(snapshot.circuit, Open)
        switch = urandom(8).hex() if switches else snapshot.switch
        changed = self._change(snapshot, circuit, switch, now)
        if changed is None and switches:
            with self._lock:
                self._unconfirmed = dict([*self._unconfirmed.items(), (switch, circuit)][-MAX_UNCONFIRMED:])
            self.refresh(now)
        return Snapshot(circuit) if self.is_unavailable() else changed

    def failed(self, now: datetime) -> None:
        """Count a failed attempt that was no probe, and open the circuit when it is one too many."""
        snapshot = self.snapshot
        circuit = transition(snapshot.circuit, "failed", self.limit, now)
        if isinstance(circuit, Closed):
            self.update(Snapshot(circuit, snapshot.version))
        elif isinstance(snapshot.circuit, Closed):
            self._alone(lambda: self._open(circuit, now))

    def succeeded(self, now: datetime) -> None:
        """Close the circuit, even if another instance has changed it in between; another thread of this one may be about to."""
        self._alone(lambda: self._close(now))

    def _alone(self, switch: Callable[[], None]) -> None:
        """Open or close the circuit, unless another thread does."""
        if self._switching.acquire(blocking=False):
            try:
                switch()
            finally:
                self._switching.release()

    def _open(self, circuit: Circuit, now: datetime) -> None:
        """Open the circuit, unless another thread has."""
        snapshot = self.snapshot
        if isinstance(snapshot.circuit, Closed) and (changed := self.compare_and_set(snapshot, circuit, now)):
            self.update(changed)
            self.log("warning", f"The circuit breaker is now in the armed state: {self.limit.consecutive_failures} attempts in a row failed. One message is attempted every {self.limit.wait}, the others wait.")  # fmt: skip
            self._call("on_started", changed)

    def _close(self, now: datetime) -> None:
        """Close the circuit, and forget the failures that were counted."""
        for _ in range(MAX_TRIES):
            snapshot = self.snapshot
            if isinstance(snapshot.circuit, Closed):
                break
            if changed := self.compare_and_set(snapshot, CLOSED, now):
                self.update(changed)
                # the start is by another instance's clock, which may be ahead
                after = max(now - snapshot.circuit.since, NO_DELAY)
                self.log("info", f"The circuit breaker is now disarmed, {after} after it was armed: an attempt succeeded.")  # fmt: skip
                self._call("on_ended", changed)
                return
        self.update(Snapshot(CLOSED, self.snapshot.version))

    def _change(self, snapshot: Snapshot, circuit: Circuit, switch: str, now: datetime) -> Snapshot | None:
        """Change the store; return None when it refuses, or does not answer and may have made the change."""
        try:
            changed = self._store.compare_and_set(snapshot, circuit, switch)
        except Exception as error:  # noqa: BLE001  # logged
            changed = None
            self._note_store_failure(error, now, NO_DELAY)
        # a call without an answer may have changed the store, whatever another thread read in between
        self._may_limit_others = isinstance(circuit, Open) or (changed is None and self._may_limit_others)
        return changed

    def _note_store_failure(self, error: Exception, now: datetime, pause: timedelta) -> None:
        """Log that a call of the store failed, and do not call it again before the pause is over."""
        self._retry_at = now + pause
        # another error may quote a secret
        why = str(error) if isinstance(error, StoreUnavailable) else type(error).__name__
        when = f"after {pause}" if pause else "when it next needs it"
        self.log("warning", f"Calling the circuit's store failed ({why}). This instance limits its rate by its own attempts, and calls the store again {when}. Check RateLimit(store).")  # fmt: skip

    def _report_confirmed(self, found: Snapshot) -> None:
        """Report a switch by this instance whose answer was lost, when the store confirms it, at once or later."""
        with self._lock:
            circuit = self._unconfirmed.pop(found.switch, None)
        if circuit is None:
            return
        opened = isinstance(circuit, Open)
        self.log("info", f"The circuit breaker was {'armed' if opened else 'disarmed'} by this instance, though the store's answer was lost.")  # fmt: skip
        self._call("on_started" if opened else "on_ended", found)

    def _call(self, name: Literal["on_started", "on_ended"], switched: Snapshot) -> None:
        """Call back about a switch of the shared circuit: one that the store has a version of, not one of this instance alone."""
        callback = getattr(self.limit, name)
        if callback is None or switched.version is None:
            return
        try:
            callback()
        except KeyboardInterrupt:
            raise  # it is to end the process
        except BaseException as error:  # noqa: BLE001  # logged; the messages are settled as if it had not raised
            self.log("warning", f"RateLimit({name}) failed ({type(error).__name__}). The messages are settled as if it had returned. Check the function in RateLimit({name}).")  # fmt: skip


TIMEOUT = timedelta(milliseconds=200)
"""The time for a call: some twenty times what DynamoDB or table storage takes when all is well."""

LONGEST_TIMEOUT = timedelta(seconds=5)


def seconds_of(name: str, timeout: timedelta) -> float:
    """Return the seconds that a store's call may take after checking the setting.

    Raises:
        TypeError: not a timedelta.
        ValueError: 0, or longer than 5 s.
    """
    if not checked_delay(name, timeout, LONGEST_TIMEOUT):
        raise ValueError(f"{name} is 0; write how long a call may take")
    return timeout.total_seconds()


THREADS = 4
"""Calls at a time: a read, a change, and two that hang, because parts of a call, such as looking up a name, have no
time-out."""

READ = None
"""The key of a read. The key of a change is the version that it changes."""


class SharedCalls:
    """The calls of one instance to one circuit's store.

    A host such as Functions runs many invocations in one process. They read the circuit together, and together they try
    to change the same version of it. One call answers all of them.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._under_way: dict[Key, Future[Any]] = {}
        # the last two reads without a result in time
        self._overdue: tuple[Future[Any] | None, Future[Any] | None] = None, None
        self._threads: ThreadPoolExecutor | None = None

    def read(self, timeout: float, call: Callable[[], T]) -> T:
        """Return the result of a read, or of the one that is under way; where it comes too late, that of the one before which did too.

        Args:
            timeout: seconds to wait for the result.
            call: reads.

        Raises:
            TimeoutError: the call did not end in time. Exceptions of the call are raised as they are.
        """
        future, is_own = self._start(READ, call)
        try:
            return self._result(READ, future, timeout, is_own=is_own)
        except TimeoutError:
            with self._lock:
                if self._overdue[1] is not future:  # another thread waited for the same read
                    self._overdue = self._overdue[1], future
                earlier = self._overdue[0]
            if earlier is None or not earlier.done() or earlier.cancelled() or earlier.exception():
                raise
            result: T = earlier.result()
            return result

    def change(self, version: int | str, timeout: float, call: Callable[[], T]) -> T | None:
        """Return the result of a change; None when a change of the same version is under way, because only one of them is made.

        Args:
            version: the version that the call changes.
            timeout: seconds to wait for the result.
            call: changes it.

        Raises:
            TimeoutError: the call did not end in time. Exceptions of the call are raised as they are, for all who wait.
        """
        try:
            future, is_own = self._start(version, call)
            result = self._result(version, future, timeout, is_own=is_own)
        finally:
            with self._lock:  # who reads after a change must not get an answer from before it
                self._under_way.pop(READ, None)
                self._overdue = None, None
        return result if is_own else None

    def _start(self, key: Key, call: Callable[[], T]) -> tuple[Future[T], bool]:
        """Return what will have the result, and True if it is that of our own call."""
        with self._lock:
            future = self._under_way.get(key)
            is_own = future is None or future.done()
            if future is None or is_own:
                future = self._under_way[key] = self._executor().submit(call)
        return future, is_own

    def _result(self, key: Key, future: Future[T], timeout: float, *, is_own: bool) -> T:
        """Wait for a result and return it."""
        from concurrent.futures import CancelledError  # the failure side

        try:
            return future.result(timeout)
        except CancelledError as error:
            raise TimeoutError from error
        finally:
            if is_own:
                future.cancel()  # a call that has not begun must not be made later
                future.add_done_callback(lambda done: self._forget(key, done))

    def _forget(self, key: Key, done: Future[Any]) -> None:
        with self._lock:
            if self._under_way.get(key) is done:
                del self._under_way[key]

    def _executor(self) -> ThreadPoolExecutor:
        """Return the threads in which calls are made; they are started when something first fails."""
        from concurrent.futures import ThreadPoolExecutor  # the failure side

        self._threads = self._threads or ThreadPoolExecutor(THREADS, "recoverable-circuit")
        return self._threads
