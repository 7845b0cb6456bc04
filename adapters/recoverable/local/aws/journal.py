"""What the host saw happen: frozen entries, handed to one observer, one at a time, and waited for by whoever needs one."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from recoverable.local.aws.outcomes import Outcome
from recoverable.local.aws.records import Record

log = logging.getLogger(__name__)

_KEPT_LINES = 10_000
_TICK = 0.05  # seconds; how often a condition on the broker's state is looked at when nothing happens here


@dataclass(frozen=True, slots=True)
class Started:
    """A new instance of a function is ready."""

    function: str
    pid: int


@dataclass(frozen=True, slots=True)
class Invoked:
    """An instance was given an event: that of a batch, or one without records of a schedule."""

    function: str
    request_id: str
    pid: int
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Ended:
    """An invocation is over and its batch, if it had one, is settled.

    Args:
        function: The function's name.
        request_id: That of the entry `Invoked`.
        pid: The instance's process.
        duration: From handing over the event to the outcome.
        outcome: How it ended.
        completed: The ids of the messages that were deleted.
        failed: The ids of those that come back after their visibility timeout.
        reason: Why the whole batch, or the invocation of a schedule, failed, if it did.
    """

    function: str
    request_id: str
    pid: int
    duration: timedelta
    outcome: Outcome
    completed: tuple[str, ...]
    failed: tuple[str, ...]
    reason: str | None


@dataclass(frozen=True, slots=True)
class Throttled:
    """No instance was free within the reserved concurrency; a batch waits for one until its visibility timeout, a schedule until its next."""

    function: str
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Expired:
    """What was throttled is given up: the messages of a batch, if it is one, are on the queue again, for their visibility timeout is over."""

    function: str
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FunctionLog:
    """One line that a function wrote to its standard output or error."""

    function: str
    pid: int
    line: str


@dataclass(frozen=True, slots=True)
class BrokerTrouble:
    """A call to the broker failed; `then` says what the host does next."""

    call: str
    error: str
    then: str


Entry = Started | Invoked | Ended | Throttled | Expired | FunctionLog | BrokerTrouble
Observer = Callable[[Entry], None]


class Journal:
    """Takes the entries of all the host's threads.

    Args:
        observe: Called with each entry, in order, from one thread at a time; it must be quick. What it raises is logged.
    """

    def __init__(self, observe: Observer | None = None) -> None:
        self._observe = observe
        self._changed = threading.Condition(threading.RLock())
        self._lines: deque[FunctionLog] = deque(maxlen=_KEPT_LINES)

    def __call__(self, entry: Entry) -> None:
        """Write an entry."""
        with self._changed:
            if isinstance(entry, FunctionLog):
                self._lines.append(entry)
            self._tell(entry)
            self._changed.notify_all()

    def _tell(self, entry: Entry) -> None:
        if self._observe is None:
            return
        try:
            self._observe(entry)
        except Exception:  # somebody else's code: the host must not stop for it
            log.exception("The observer failed on %r; the host goes on.", entry)

    @property
    def lines(self) -> tuple[FunctionLog, ...]:
        """The latest 10,000 lines of the functions' log."""
        with self._changed:
            return tuple(self._lines)

    def wait_until(self, condition: Callable[[], bool], *, deadline: timedelta) -> bool:
        """Wait for a condition, looked at after each entry and now and then; False when the deadline came first."""
        end = time.monotonic() + deadline.total_seconds()
        while not condition():
            left = end - time.monotonic()
            if left <= 0:
                return False
            with self._changed:
                self._changed.wait(min(left, _TICK))
        return True
