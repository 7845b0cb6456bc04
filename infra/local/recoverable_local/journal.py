"""Takes what the threads of a local host saw happen: hands it to one observer, and lets others wait for what they need."""

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
_TICK = 0.05  # seconds; how often a condition on the broker's state is looked at when nothing happens here


class LogLine(Protocol):
    """A line of a function's log, as far as the journal is concerned."""

    @property
    def line(self) -> str:
        """Its text."""


Line = TypeVar("Line", bound=LogLine)


class Journal(Generic[Entry, Line]):
    """Takes the entries of all the host's threads.

    Args:
        lines: The kind of entry that is a line of a function's log, of which the latest are kept.
        observe: Called with each entry, in order, from one thread at a time; it must be quick. What it raises is logged.
    """

    def __init__(self, lines: type[Line], observe: Callable[[Entry], None] | None = None) -> None:
        self._kind, self._observe = lines, observe
        self._changed = threading.Condition(threading.RLock())
        self._lines: deque[Line] = deque(maxlen=_KEPT_LINES)

    def __call__(self, entry: Entry) -> None:
        """Write an entry."""
        with self._changed:
            if isinstance(entry, self._kind):
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
    def lines(self) -> tuple[Line, ...]:
        """The latest 10,000 lines of the functions' log."""
        with self._changed:
            return tuple(self._lines)

    def wait_until(self, condition: Callable[[], bool], *, deadline: timedelta, state: Callable[[], str] = str) -> None:
        """Wait for a condition, looked at after each entry and now and then.

        Args:
            condition: What must hold.
            deadline: The longest wait.
            state: What the error tells beside the log.

        Raises:
            TimeoutError: The condition does not hold at the deadline; the message has the latest log lines.
        """
        end = time.monotonic() + deadline.total_seconds()
        while not condition():
            if (left := end - time.monotonic()) <= 0:
                lines = "".join(f"\n  {each.line}" for each in self.lines[-10:])
                text = f"After {deadline.total_seconds():g} s the condition does not hold.\n{state()}Log:{lines}"
                raise TimeoutError(text)
            with self._changed:
                self._changed.wait(min(left, _TICK))
