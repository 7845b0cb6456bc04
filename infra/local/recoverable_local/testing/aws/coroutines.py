"""Record each attempt of a coroutine handler, which no deadline calls."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Awaitable, Callable
from typing import Any

from recoverable import Message
from recoverable._flow.event_loop import TIME_IS_UP
from recoverable_local.testing.engine.invocation import Invocation
from recoverable_local.testing.timeline import STOPPED, Journal, how_it_failed

Handler = Callable[[Message], Awaitable[Any]]


def recorder(invocation: Invocation, journal: Journal, clock: Callable[[], float]) -> Callable[[Handler], Handler]:
    """Return what wraps a coroutine handler so that its attempts are recorded.

    Args:
        invocation: the invocation that makes them.
        journal: records how each ended.
        clock: the world's time in seconds.
    """

    def wrap(handler: Handler) -> Handler:
        async def recorded(message: Message) -> Any:
            began = clock()

            def note(how: str) -> None:
                journal.note("attempted", invocation.queue, message.native["messageId"], how, invocation.number)

            try:
                result = await handler(message)
            except BaseException as error:
                stopped = isinstance(error, CancelledError) and TIME_IS_UP in error.args
                note(f"{STOPPED} after {clock() - began:g} s" if stopped else how_it_failed(error))
                raise
            note("succeeded")
            return result

        return recorded

    return wrap
