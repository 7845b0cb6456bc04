"""Finish what a handler returned: await what is to be awaited, and refuse what has not begun."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from typing import TYPE_CHECKING, Any

from recoverable._flow.deadline import FOREVER

if TYPE_CHECKING:
    from recoverable._flow.deadline import Deadline


def finish(result: Any, seconds: float, deadline: Deadline) -> None:
    """Run to its end an awaitable that a plain handler returned, so that no message is completed before it is handled.

    Args:
        result: what the handler returned.
        seconds: how long the handler may run.
        deadline: knows when that time ends: what the function itself took is gone.

    Raises:
        TypeError: it is a generator; what the awaited work raises passes as it is.
    """
    if hasattr(result, "__await__"):
        from recoverable._flow.event_loop import run_in_loop, within  # noqa: PLC0415  # asyncio, when there is something to await

        if seconds != FOREVER:
            seconds = max(deadline.ends - deadline.now(), 0.0)
        result = run_in_loop(within(seconds, result))
    refuse_generator(result)


def refuse_generator(result: object) -> None:
    """Refuse a generator: the function that returned it has not begun.

    Raises:
        TypeError: it is a generator, plain or asynchronous.
    """
    if isinstance(result, Generator | AsyncGenerator):
        raise TypeError("the handler answered a generator, and nothing of it has run; write return instead of yield")
