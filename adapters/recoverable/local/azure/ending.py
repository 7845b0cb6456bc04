"""Ends tasks of asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any


async def end(tasks: Iterable[asyncio.Task[Any]], *, again: float) -> None:
    """Cancel tasks and wait until they are over.

    Args:
        tasks: Those that are over already are left alone.
        again: Seconds after which they are cancelled once more: the SDK, and Python's `wait_for` before 3.12, may swallow a cancellation.
    """
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=again)
