"""The driver for coroutine handlers, apart because importing asyncio costs cold starts that only they should pay."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextvars import copy_context
from functools import cache
from threading import get_ident
from typing import Any, TypeVar

from .alarm import AGAIN
from .answers import refuse_generator
from .attempt import FOREVER, Invocation
from .delivery import Delivery
from .errors import TimeUp
from .messages import Message
from .settlements import Settlement
from .world import current_world

T = TypeVar("T")
Handler = Callable[[Message], Awaitable[Any]]


@cache
def runner(_thread: int) -> asyncio.Runner:
    """The thread's one event loop: clients that handlers keep between invocations are bound to it."""
    return asyncio.Runner()


def in_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run the coroutine to its end in the thread's event loop, or in that of a test world."""
    world = current_world.get()
    chosen = runner(get_ident()) if world is None or world.runner is None else world.runner()
    # a copy of today's context: without one, what was set since the runner's first run would not be seen
    return chosen.run(coroutine, context=copy_context())


def finish(awaitable: Awaitable[Any], seconds: float) -> None:
    """Run to its end what a plain function returned unawaited, so that no message is completed unhandled."""
    in_loop(within(seconds, awaitable))


def attempts(
    handler: Handler, deliveries: Sequence[Delivery], invocation: Invocation, concurrency: int
) -> list[Settlement]:
    """All the deliveries through receipt, handler and recovery, so many at a time; a settlement for each, in their order."""
    settled = in_loop(concurrently(handler, enumerate(deliveries), invocation, concurrency))
    return [settled[place] for place in range(len(deliveries))]


async def concurrently(
    handler: Handler, deliveries: Iterator[tuple[int, Delivery]], invocation: Invocation, concurrency: int
) -> dict[int, Settlement]:
    """Workers that take one delivery after the other from the same row."""

    async def work() -> dict[int, Settlement]:
        return {place: await attempt(handler, delivery, invocation) for place, delivery in deliveries}

    workers = [asyncio.create_task(work()) for _ in range(concurrency)]
    try:
        done = await asyncio.gather(*workers)
    finally:  # when one cannot go on, none may in the next invocation, where nobody would settle for it
        for worker in workers:
            worker.cancel()
        await asyncio.wait(workers)
    return {place: settlement for made in done for place, settlement in made.items()}


async def attempt(handler: Handler, delivery: Delivery, invocation: Invocation) -> Settlement:
    """One message through receipt, handler and recovery; see `recoverable.attempt.attempt`."""
    seconds = invocation.received(delivery)
    if not isinstance(seconds, float):
        return seconds
    after = invocation.finished
    error = await run(handler, delivery.message, seconds)
    return invocation.ended(delivery, error, seconds, after=after)


async def run(handler: Handler, message: Message, seconds: float) -> BaseException | None:
    """How the handler ended; see `recoverable.attempt.run`."""
    try:
        await within(seconds, handler(message))
    except BaseException as error:  # noqa: BLE001  # recovery decides about each of them
        return error
    return None


async def within(seconds: float, awaitable: Awaitable[Any]) -> None:
    """Await; cancel it when the time is up, and say so by `TimeUp`, which shows where the handler stood."""
    if seconds == FOREVER:
        return await to_its_end(awaitable)
    limit = Limit(seconds)
    try:
        await to_its_end(awaitable)
    except asyncio.CancelledError as error:
        if not limit.cancelled:
            raise
        raise TimeUp().with_traceback(error.__traceback__) from None
    finally:
        limit.end()


class Limit:
    """Cancels the task that it is made in when its time is up, and again as long as it does not end.

    `asyncio.timeout` cancels once, and what a handler awaits then, such as the end of a connection, would take the time for settling.

    Args:
        seconds: the time it has.
    """

    def __init__(self, seconds: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[Any] = asyncio.current_task()  # type: ignore[assignment]  # who awaits is in one
        self._timer = self._loop.call_later(seconds, self._cancel)
        self.cancelled = 0

    def _cancel(self) -> None:
        self._task.cancel()
        self.cancelled += 1
        self._timer = self._loop.call_later(AGAIN, self._cancel)

    def end(self) -> None:
        """Cancel no more, and leave the task as it was found."""
        self._timer.cancel()
        for _ in range(self.cancelled):
            self._task.uncancel()


async def to_its_end(awaitable: Awaitable[Any]) -> None:
    """Await, and await what comes of it: a wrapper that is a coroutine itself may return the handler's unawaited.

    Raises:
        TypeError: a generator came of it; what the awaited raises passes as it is.
    """
    answer = await awaitable
    while isinstance(answer, Coroutine | asyncio.Future):
        answer = await answer
    refuse_generator(answer)
