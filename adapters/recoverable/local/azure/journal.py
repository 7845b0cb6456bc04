"""What the host saw happen: frozen entries, handed to one observer, one at a time, and waited for by whoever needs one."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from recoverable.local.azure.outcomes import Outcome

log = logging.getLogger(__name__)

_KEPT_LINES = 10_000
_TICK = 0.05  # seconds; how often a condition on the broker's state is looked at when nothing happens here

Settled = Literal["completed", "abandoned", "left"]
"""What the host did with an invocation's messages; those that it left come back when their locks end."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """A message as it was given to a function; its first delivery counts 1."""

    message_id: str
    sequence_number: int
    delivery_count: int


@dataclass(frozen=True, slots=True)
class Started:
    """A worker process is ready."""

    pid: int
    functions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Invoked:
    """A function was given messages."""

    function: str
    invocation_id: str
    messages: tuple[Delivered, ...]


@dataclass(frozen=True, slots=True)
class Ended:
    """An invocation is over.

    Args:
        function: The function's name.
        invocation_id: That of the entry `Invoked`.
        duration: From receiving the messages to the outcome.
        outcome: How it ended.
        settled: What the host did with the messages.
    """

    function: str
    invocation_id: str
    duration: timedelta
    outcome: Outcome
    settled: Settled


@dataclass(frozen=True, slots=True)
class FunctionLog:
    """One line that a worker wrote to its standard output or error."""

    pid: int
    line: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something failed that is not the function; `then` says what the host does next."""

    what: str
    error: str
    then: str


Entry = Started | Invoked | Ended | FunctionLog | Trouble
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
