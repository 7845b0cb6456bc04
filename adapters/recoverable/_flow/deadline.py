"""Know how long handlers may run, and stop one that would use up the time kept for settling."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # the public `signal` looks each call's answer up among enums
from time import monotonic

from recoverable._errors import TimeUp

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any, Self, TypeVar

    T = TypeVar("T")
    R = TypeVar("R")


SIGALRM, getsignal = getattr(signal, "SIGALRM", 0), signal.getsignal  # Windows has no such signal

FOREVER = float("inf")
"""Seconds where nothing sets a limit."""

TOLERANCE = 0.01
"""Seconds that a handler may be stopped too late: all handlers of an invocation have nearly the same deadline, so one
timer serves them."""

AGAIN = 0.5
"""Seconds after which a stopped handler that has not ended is stopped again: it would otherwise use up the time for
settling."""

SHORTEST = 0.001
"""Seconds that a timer is set to at least; 0 would disarm it."""

LOOK_EVERY = 0.001
"""Seconds after which the host is asked again how much time is left: quick handlers should not pay for its answer."""


class Deadline:
    """The time that the handlers of one invocation have, and the alarm (SIGALRM) that stops a plain one.

    As a context manager it restores the signal's handler and the timer.

    It can stop only the main thread of a POSIX system, and only between two steps of Python code. Elsewhere handlers
    just run, and the host's own time-out ends them.

    Args:
        seconds_for_handlers: returns for how many seconds handlers may still run; None where nothing sets a limit.
        own_seconds: for how many seconds one handler may run.
    """

    __slots__ = ("_all_end", "_before", "_look_at", "_seconds_for_handlers", "began", "ends", "handler", "inside", "own_seconds", "rings", "shared", "stopped")  # fmt: skip

    now = staticmethod(monotonic)
    """Returns the time in seconds by which `began` and `ends` are meant."""

    def __init__(self, seconds_for_handlers: Callable[[], float] | None = None, own_seconds: float = FOREVER) -> None:
        self._seconds_for_handlers, self.own_seconds = seconds_for_handlers, own_seconds
        self._all_end, self._look_at = FOREVER, FOREVER if seconds_for_handlers is None else -FOREVER
        self.inside, self.began, self.ends, self.rings, self.shared = False, 0.0, FOREVER, FOREVER, False
        """True while a plain handler runs; when it began; when its time is up; when the timer rings, less `TOLERANCE`; True where several run at once."""
        self._before: tuple[Any, float, float] | None = None
        self.handler: Callable[[int, FrameType | None], None] | None = None  # the signal's, once it is ours

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            handler, remaining, since = self._before
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(SIGALRM, handler or signal.SIG_DFL)
            self.handler = None  # it holds this object
            if remaining:
                signal.setitimer(signal.ITIMER_REAL, max(remaining - (monotonic() - since), SHORTEST))

    def observed(self, handler: Callable[[T], R]) -> Callable[[T], R]:
        """Return what is called for the handler while `inside` is True; a test's deadline returns more than the handler."""
        return handler

    def seconds_left(self) -> float:
        """Return for how many seconds a handler may run that starts now; set `began` to now, and `ends` to when it must have ended."""
        now = self.began = self.now()
        if now >= self._look_at and self._seconds_for_handlers is not None:
            self._all_end, self._look_at = now + self._seconds_for_handlers(), now + LOOK_EVERY
            if self.handler is not None and not signal.getitimer(signal.ITIMER_REAL)[0]:
                self.rings = FOREVER  # a handler has used the timer itself
        seconds = self._all_end - now
        if seconds > self.own_seconds:
            seconds = self.own_seconds
            self.ends = now + seconds
        else:
            self.ends = self._all_end
        return seconds

    def failure(self, raised: BaseException) -> BaseException:
        """Return how the handler failed that raised this: once it was stopped, by `TimeUp`, whatever it made of that."""
        if getattr(self, "stopped", None) != self.began or type(raised) is TimeUp:
            return raised
        return TimeUp().with_traceback(BaseException.__dict__["__traceback__"].__get__(raised))

    def arm(self) -> None:
        """Have the alarm raise `TimeUp` in the handler at `ends`, and again as long as it does not end; outside a handler it does nothing."""
        try:
            self._set(self.ends - self.now())
        except (AttributeError, ValueError):  # Windows has no such timer, and only the main thread may set it
            self.rings = -FOREVER

    def _ring(self, _signal: int, _frame: FrameType | None) -> None:
        self.rings = FOREVER
        if not self.inside or self._before is None:  # the latter is another's timer, which rang while it was replaced
            return
        early = self.ends - monotonic()
        if early > 0:  # the timer of the handler before, or a signal from elsewhere
            self._set(early)
            return
        self.ends += AGAIN
        self.stopped = self.began  # when the handler began that was stopped
        self._set(AGAIN)
        raise TimeUp

    def _set(self, seconds: float) -> None:
        now, is_first = monotonic(), self._before is None
        if is_first or getsignal(SIGALRM) is not self.handler:
            ours = self.handler or self._ring
            handler = signal.signal(SIGALRM, ours)
            self.handler = ours  # not before: Windows has no such signal, and only the main thread may set it
        self.rings = now + seconds - TOLERANCE
        remaining, _ = signal.setitimer(signal.ITIMER_REAL, max(SHORTEST, seconds))
        if is_first:
            self._before = handler, remaining, now
