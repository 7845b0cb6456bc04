"""What a handler answers means nothing, unless it is the work itself, which has yet to be done."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from typing import Any


def finish(answer: Any, seconds: float) -> None:
    """Run to its end what a plain function left to be awaited, so that no message is completed unhandled.

    Args:
        answer: what the function returned.
        seconds: how long it may run.

    Raises:
        TypeError: it is a generator; what the awaited raises passes as it is.
    """
    if hasattr(answer, "__await__"):
        from . import coroutines  # noqa: PLC0415  # asyncio is imported when there is something to await

        coroutines.finish(answer, seconds)
    refuse_generator(answer)


def refuse_generator(answer: object) -> None:
    """Let answers pass, but no generator: the function that gave it has not begun.

    Raises:
        TypeError: it is one, plain or asynchronous.
    """
    if isinstance(answer, Generator | AsyncGenerator):
        raise TypeError(
            "the handler answered a generator, and nothing of it has run; write return instead of yield"
        )
