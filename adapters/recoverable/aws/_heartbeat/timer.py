"""Call a function later, in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from threading import Timer


def call_later(seconds: float, function: Callable[[], None]) -> Callable[[], None]:
    """Call a function after so many seconds, in a thread that does not hold up the end of the process; return a function that cancels that."""
    timer = Timer(seconds, copy_context().run, args=(function,))
    timer.name, timer.daemon = "recoverable-heartbeat", True
    timer.start()
    return timer.cancel
