"""Cancel asyncio tasks and wait for their end."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any


async def cancel_and_wait(tasks: Collection[asyncio.Task[Any]], *, repeat_after: float) -> None:
    """Cancel tasks and wait until they are over, even if the caller is cancelled in the meantime.

    Args:
        tasks: The tasks; those that are over already are ignored.
        repeat_after: Seconds after which they are cancelled again: the SDK, and Python's `wait_for` before 3.12, may swallow a cancellation.
    """
    cancelled: asyncio.CancelledError | None = None
    while unfinished := {task for task in tasks if not task.done()}:
        for task in unfinished:
            task.cancel()
        try:
            await asyncio.wait(unfinished, timeout=repeat_after)
        except asyncio.CancelledError as error:
            cancelled = error  # raised again below: first all tasks must be over
    if cancelled is not None:
        raise cancelled
