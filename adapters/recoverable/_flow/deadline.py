"""Stop a handler that would use up the time kept for settling."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # the module `signal` is this one, and a search among enums at each call
import threading
from time import monotonic

from recoverable._errors import TimeUp

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any, Self, TypeVar

    T = TypeVar("T")
    R = TypeVar("R")


NEVER = float("inf")

TOLERANCE = 0.01
"""Seconds that a handler may be stopped too late: all handlers of an invocation have nearly the same deadline, so one
timer serves them."""

AGAIN = 0.5
"""Seconds after which a stopped handler that has not ended is stopped again: it would otherwise use up the time for
settling."""

SHORTEST = 0.001
"""Seconds that a timer is set to at least; 0 would disarm it."""


class Deadline:
    """A deadline by SIGALRM for the handlers of one invocation.

    As a context manager it restores the signal's handler and the timer.

    It can stop only the main thread of a POSIX system, and only between two steps of Python code. Elsewhere handlers
    just run, and the host's own time-out ends them; so too after a handler that used the signal itself.
    """

    __slots__ = ("_before", "ends", "inside", "rings", "works")

    now = staticmethod(monotonic)
    """Returns the time in seconds by which `ends` is meant."""

    def __init__(self) -> None:
        self.works = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        self.inside, self.ends, self.rings = False, 0.0, NEVER if self.works else -NEVER
        """True while a handler runs; when its time is up; when the timer rings."""
        self._before: tuple[Any, float, float] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            handler, remaining, since = self._before
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, handler or signal.SIG_DFL)
            if remaining:
                signal.setitimer(signal.ITIMER_REAL, max(remaining - (monotonic() - since), SHORTEST))

    def observed(self, handler: Callable[[T], R]) -> Callable[[T], R]:
        """Return what is called for the handler while `inside` is True; a test's deadline returns more than the handler."""
        return handler

    def call(self, seconds: float, handler: Callable[[T], R], argument: T) -> R:
        """Call the handler; raise `TimeUp` inside it when the time is up, and again as long as it does not end.

        Args:
            seconds: the time it has.
            handler: what to call.
            argument: its argument.
        """
        try:
            self.ends, self.inside = self.now() + seconds, True
            if self.rings > self.ends + TOLERANCE:
                self.arm(seconds)
            return handler(argument)
        finally:
            self.inside = False  # the timer runs on, for setting it costs time; outside a handler it does nothing

    def _ring(self, _signal: int, _frame: FrameType | None) -> None:
        self.rings = NEVER
        if not self.inside or self._before is None:  # the latter is another's timer, which rang while it was replaced
            return
        early = self.ends - monotonic()
        if early > 0:  # the timer of the handler before, or a signal from elsewhere
            self.arm(early)
            return
        self.ends += AGAIN
        self.arm(AGAIN)
        raise TimeUp

    def arm(self, seconds: float) -> None:
        """Set the timer."""
        now, first = monotonic(), self._before is None
        handler = signal.signal(signal.SIGALRM, self._ring) if first else None
        self.rings = now + seconds
        remaining, _ = signal.setitimer(signal.ITIMER_REAL, max(seconds, SHORTEST))
        if first:
            self._before = handler, remaining, now
