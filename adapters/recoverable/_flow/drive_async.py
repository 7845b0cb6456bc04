"""Run coroutine handlers in the thread's event loop: the driver of the flow, several messages at a time, each in a task and context of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import suppress
from inspect import isawaitable
from itertools import islice
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
    """Take messages through the flow, so many at a time; all of them, unless what handlers sent must leave before the next one starts."""
    invocation.deadline.shared = concurrency > 1
    environment = current_environment.get()
    if environment is not None and environment.wrap_handler is not None:
        handler = environment.wrap_handler(handler)

    async def attempt(message: Message) -> None:
        waiting.pop(asyncio.current_task(), None)
        await drive_async(attempt_each(iter((message,)), invocation), handler, call_here)

    def following() -> Iterator[Message]:
        """Yield the messages that may start."""
        while not (invocation.outgoing and invocation.must_send is not None and invocation.must_send()):
            if (message := next(rest, None)) is None:
                return
            yield message

    rest, waiting = iter(messages), dict[Any, Message]()
    run_in_loop(_attempt_concurrently(attempt, following(), waiting, concurrency))


async def _attempt_concurrently(
    attempt: Callable[[Message], Coroutine[Any, Any, None]],
    messages: Iterator[Message],
    waiting: dict[Worker, Message],
    concurrency: int,
) -> None:
    """Work on so many messages at a time, each in a task of its own, which runs in a copy of the current context.

    Args:
        attempt: takes one message through the flow.
        messages: the messages.
        waiting: those whose tasks have not begun.
        concurrency: how many at a time.
    """
    workers = set[Worker]()

    def start(message: Message) -> None:
        worker = asyncio.create_task(attempt(message))
        waiting[worker] = message
        workers.add(worker)

    again: list[Message] = []
    try:
        while True:
            for message in (*again, *islice(messages, concurrency - len(workers) - len(again))):
                start(message)
            if not workers:
                return
            ended = await first_ended(workers)
            workers -= ended
            again = unbegun(ended, waiting)
    finally:  # when one cannot go on, none may in the next invocation, where nobody would settle for it
        for worker in workers:
            worker.cancel()
        if workers:
            await asyncio.wait(workers)


async def first_ended(workers: set[Worker]) -> set[Worker]:
    """Wait until a worker has ended, and return those that have.

    Raises:
        CancelledError: this task alone was cancelled; when a handler cancels all tasks, the messages are worked on all
            the same.
    """
    try:
        ended, _ = await asyncio.wait(workers, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        if not any(worker.cancelling() for worker in workers):
            raise
        return set()
    return ended


def unbegun(ended: set[Worker], waiting: dict[Worker, Message]) -> list[Message]:
    """Return the messages of workers that a handler cancelled before they began; raise what another has raised."""
    for worker in ended:
        if not worker.cancelled():
            worker.result()
    return [waiting.pop(worker) for worker in ended if worker in waiting]
