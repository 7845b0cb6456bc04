"""Stops a handler that would use up the time kept for settling."""

from __future__ import annotations

import signal
import threading

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import NoReturn, TypeVar

    T = TypeVar("T")
    R = TypeVar("R")


class TimeUp(BaseException):
    """Raised inside a handler whose time is up; no `Exception`, for a handler's own `except Exception` must not swallow it."""


def call_within(seconds: float, handler: Callable[[T], R], argument: T) -> R:
    """Call the handler; raise `TimeUp` inside it when the time is up.

    Only the main thread of a POSIX system can be stopped so, and only between two steps of Python code: elsewhere the
    handler just runs, and the host's own time-out ends it.

    Args:
        seconds: the time it has.
        handler: what to call.
        argument: what with.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        return handler(argument)
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))  # 0 would disarm it
        return handler(argument)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def ring(_signal: int, _frame: FrameType | None) -> NoReturn:
    """Stop whatever the main thread does now."""
    raise TimeUp
