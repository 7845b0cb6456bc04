"""Run an awaitable to its end in the thread's event loop, and stop it when its time is up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from contextvars import copy_context
from functools import cache
from threading import get_ident
from typing import Any, TypeVar

from recoverable._errors import TimeUp
from recoverable._flow.deadline import AGAIN, FOREVER
from recoverable.hosting import current_environment

T = TypeVar("T")

TIME_IS_UP = "the time of the handler is up"
"""The text of the `CancelledError` of a handler that is stopped for lack of time."""


@cache
def runner(_thread: int) -> asyncio.Runner:
    """Return the thread's one event loop: clients that handlers keep between invocations are bound to it."""
    return asyncio.Runner()


def run_in_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run the coroutine to its end in the thread's event loop, or in that of a test."""
    environment = current_environment.get()
    in_a_test = environment is not None and environment.runner is not None
    chosen = environment.runner() if in_a_test else runner(get_ident())  # type: ignore[union-attr,misc]  # as just checked
    started: list[asyncio.Task[Any]] = []

    async def noted() -> T:
        started.extend(filter(None, [asyncio.current_task()]))
        return await coroutine

    try:
        # a copy of the current context: the runner's own is that of its first run
        result: T = chosen.run(noted(), context=copy_context())
    except RuntimeError:
        if not started or started[0].done():
            raise
        result = go_on(chosen.get_loop(), started[0])
    return result


def go_on(loop: asyncio.AbstractEventLoop, task: asyncio.Task[T]) -> T:
    """Run the loop, which a handler has stopped, until the task is done: other messages are worked on in it."""
    while True:
        try:
            return loop.run_until_complete(task)
        except RuntimeError:
            if task.done():
                raise


async def within(seconds: float, awaitable: Awaitable[Any]) -> Any:
    """Await to the end and return the result; cancel when the time is up.

    Raises:
        TimeUp: the time was up, whatever was raised then; its traceback shows where the handler was.
    """
    if seconds == FOREVER:
        return await to_its_end(awaitable)
    limit = Limit(seconds)
    try:
        return await to_its_end(awaitable)
    except BaseException as error:
        if not limit.cancelled:
            raise
        raise TimeUp().with_traceback(error.__traceback__) from None
    finally:
        limit.end()


class Limit:
    """A time limit for the task that it is made in.

    It cancels the task when its time is up, and again as long as it does not end.

    `asyncio.timeout` cancels once. A handler that then awaits, such as the end of a connection, would use up the time
    for settling.

    Args:
        seconds: the time that the task has.
    """

    def __init__(self, seconds: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[Any] = asyncio.current_task()  # type: ignore[assignment]  # code that awaits is in a task
        self._timer = self._loop.call_later(seconds, self._cancel)
        self.cancelled = 0

    def _cancel(self) -> None:
        self._task.cancel(TIME_IS_UP)
        self.cancelled += 1
        self._timer = self._loop.call_later(AGAIN, self._cancel)

    def end(self) -> None:
        """Cancel no more, and leave the task as it was found."""
        self._timer.cancel()
        for _ in range(self.cancelled):
            self._task.uncancel()


async def to_its_end(awaitable: Awaitable[Any]) -> Any:
    """Await, and await the result too if it is awaitable.

    A wrapper may be a coroutine and return the handler's coroutine unawaited.
    """
    result = await awaitable
    while isinstance(result, Coroutine | asyncio.Future):
        result = await result
    return result
