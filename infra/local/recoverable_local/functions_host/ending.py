"""Ends tasks of asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any


async def end(tasks: Collection[asyncio.Task[Any]], *, again: float) -> None:
    """Cancel tasks and wait until they are over, also when this is cancelled meanwhile.

    Args:
        tasks: Those that are over already are left alone.
        again: Seconds after which they are cancelled once more: the SDK, and Python's `wait_for` before 3.12, may swallow a cancellation.
    """
    cancelled: asyncio.CancelledError | None = None
    while left := {task for task in tasks if not task.done()}:
        for task in left:
            task.cancel()
        try:
            await asyncio.wait(left, timeout=again)
        except asyncio.CancelledError as error:
            cancelled = error  # nothing may be left that nobody waits for any more
    if cancelled is not None:
        raise cancelled
