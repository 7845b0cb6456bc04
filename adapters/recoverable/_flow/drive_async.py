"""Run coroutine handlers in the thread's event loop: the driver of the flow, several messages at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, TypeVar

from recoverable._flow.event_loop import run_in_loop, within
from recoverable._flow.handlers import refuse_generator
from recoverable._flow.invocation import Invocation
from recoverable._message import Message
from recoverable.hosting import current_environment

if TYPE_CHECKING:
    from recoverable._flow.flow import Call, Flow

T = TypeVar("T")
Worker = asyncio.Task[Any]
Handler = Callable[[Message], Awaitable[Any]]
Caller = Callable[[Callable[[], Any]], Awaitable[Any]]


async def call_here(function: Callable[[], Any]) -> Any:
    """Call the function on the event loop, which waits for it."""
    return function()


async def drive_async(steps: Flow, handler: Handler, call: Caller = asyncio.to_thread) -> BaseException | None:
    """Do all steps of a flow with a coroutine handler, and return what it returns.

    Args:
        steps: the flow.
        handler: the user's coroutine function.
        call: calls what may block; by default in a thread, so that the event loop goes on with other messages.
    """
    try:
        step = next(steps)
        while True:
            try:
                answer = await (run_handler(handler, *step) if isinstance(step, tuple) else called(call, step))
            except Exception as error:  # noqa: BLE001  # the flow handles it, or ends with it
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # as `Flow` says


async def called(call: Caller, function: Call) -> Any:
    """Call a function of the flow and return its result; a result that is awaitable is awaited here, in the handler's event loop."""
    result = await call(function)
    return await result if isawaitable(result) else result


async def run_handler(handler: Handler, messages: tuple[Message, ...], seconds: float) -> BaseException | None:
    """Run the handler once; return None, or whatever it raised; see `flow.drive`."""
    (message,) = messages
    try:
        refuse_generator(await within(seconds, handler(message)))
    except BaseException as error:  # noqa: BLE001  # recovery decides about each of them
        return error
    finally:
        await take_cancellation()
    return None


async def take_cancellation() -> None:
    """Receive a cancellation that a handler requested of all tasks and that is still to come, or it would end the next handler."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0)


def attempt_concurrently(
    attempt_each: Callable[[Iterator[Message], Invocation], Flow],
    handler: Handler,
    messages: Iterable[Message],
    invocation: Invocation,
    concurrency: int,
) -> None:
    """Take messages through the flow, so many at a time; all of them, unless `flow.attempt_each`, which is given, ends early."""
    invocation.deadline.shared = concurrency > 1
    environment = current_environment.get()
    if environment is not None and environment.wrap_handler is not None:
        handler = environment.wrap_handler(handler)
    run_in_loop(_attempt_concurrently(partial(attempt_each, iter(messages), invocation), handler, concurrency))


async def _attempt_concurrently(steps: Callable[[], Flow], handler: Handler, concurrency: int) -> None:
    """Start workers that take one message after the other from the same iterator."""

    def start() -> Worker:
        return asyncio.create_task(drive_async(steps(), handler, call_here))

    workers = {start() for _ in range(concurrency)}
    try:
        while workers:
            workers = await unfinished(workers, start)
    finally:  # when one cannot go on, none may in the next invocation, where nobody would settle for it
        for worker in workers:
            worker.cancel()
        if workers:
            await asyncio.wait(workers)


async def unfinished(workers: set[Worker], start: Callable[[], Worker]) -> set[Worker]:
    """Wait until one worker has ended, and return the others; a worker that a handler cancelled before it began is replaced.

    Raises:
        CancelledError: this task alone was cancelled; when a handler cancels all tasks, the messages are worked on all
            the same.
    """
    try:
        ended, others = await asyncio.wait(workers, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        if not any(worker.cancelling() for worker in workers):
            raise
        return workers
    for worker in ended:
        if not worker.cancelled():
            worker.result()
    return others | {start() for worker in ended if worker.cancelled()}
