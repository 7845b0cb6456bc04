"""Record the events of a local host from all its threads: pass each to one observer, and let callers wait for a condition."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from typing import Generic, Protocol, TypeVar

log = logging.getLogger(__name__)

Entry = TypeVar("Entry")

_KEPT_LINES = 10_000
_TICK = 0.2  # seconds between two checks of a condition on the broker's state while no entry arrives


class LogLine(Protocol):
    """A journal entry that holds one line of a function's log."""

    @property
    def line(self) -> str:
        """Return its text."""


Line = TypeVar("Line", bound=LogLine)


class Journal(Generic[Entry, Line]):
    """Record of a host's events, safe to write from any thread.

    Args:
        lines: The type of the entries that are log lines; the latest 10,000 of them are kept.
        observe: Called with each entry, in order, from one thread at a time; it must be quick. An exception that it raises is logged.
    """

    def __init__(self, lines: type[Line], observe: Callable[[Entry], None] | None = None) -> None:
        self._kind, self._observe = lines, observe
        self._changed = threading.Condition(threading.RLock())
        self._lines: deque[Line] = deque(maxlen=_KEPT_LINES)

    def __call__(self, entry: Entry) -> None:
        """Add an entry: keep it if it is a log line, pass it to the observer, and wake all waiting callers."""
        with self._changed:
            if isinstance(entry, self._kind):
                self._lines.append(entry)
            self._notify(entry)
            self._changed.notify_all()

    def _notify(self, entry: Entry) -> None:
        if self._observe is None:
            return
        try:
            self._observe(entry)
        except Exception:  # the observer is the caller's code: its error must not stop the host
            log.exception("The observer failed on %r. The host continues.", entry)

    @property
    def lines(self) -> tuple[Line, ...]:
        """Return the latest 10,000 lines of the functions' log, oldest first."""
        with self._changed:
            return tuple(self._lines)

    def wait_until(self, condition: Callable[[], bool], *, deadline: timedelta, state: Callable[[], str] = str) -> None:
        """Wait until a condition holds. It is checked after each entry and at least every 200 ms.

        Args:
            condition: Returns True when the wait is over.
            deadline: The longest wait.
            state: Returns a text that the error adds before the log lines.

        Raises:
            TimeoutError: The condition does not hold at the deadline. The message has the latest ten log lines.
        """
        end = time.monotonic() + deadline.total_seconds()
        while not condition():
            if (remaining := end - time.monotonic()) <= 0:
                lines = "".join(f"\n  {each.line}" for each in self.lines[-10:])
                text = f"After {deadline.total_seconds():g} s the condition does not hold.\n{state()}Log:{lines}"
                raise TimeoutError(text)
            with self._changed:
                self._changed.wait(min(remaining, _TICK))
