"""A receiver of azure-servicebus that many coroutines share: it is used by one at a time, and who settles interrupts who waits for messages."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from azure.servicebus import ServiceBusReceivedMessage
from azure.servicebus.aio import ServiceBusReceiver
from azure.servicebus.exceptions import ServiceBusError

from recoverable_local.functions_host.ending import end

T = TypeVar("T")

_ATTEMPTS = 10
_AGAIN = 0.05  # seconds after which an interruption that was swallowed is repeated


class Link:
    """A receiver, shared.

    The SDK promises no safety between coroutines. A wait for messages can be cancelled at any moment: what has come by then is kept
    for the next, and what comes while nobody waits is given back by the SDK, uncounted.

    Args:
        receiver: Need not be open yet.
        pause: Seconds from one attempt to use a receiver that is being opened anew to the next.
    """

    def __init__(self, receiver: ServiceBusReceiver, *, pause: float = 1.0) -> None:
        self.receiver, self._pause = receiver, pause
        self._turn, self._free = asyncio.Lock(), asyncio.Event()
        self._free.set()
        self._asking = 0
        self._waiting: asyncio.Task[list[ServiceBusReceivedMessage]] | None = None

    async def receive(self, most: int, *, wait: float) -> list[ServiceBusReceivedMessage]:
        """Wait for messages; none when they did not come in time, or somebody settled meanwhile.

        Args:
            most: How many at most.
            wait: Seconds to wait for the first.
        """
        await self._free.wait()
        async with self._turn:
            receiving = self.receiver.receive_messages(most, max_wait_time=wait)
            self._waiting = asyncio.ensure_future(receiving)
            try:
                await asyncio.wait({self._waiting})
            finally:
                await self._end()
        return [] if self._waiting.cancelled() else self._waiting.result()

    async def run(self, operation: Callable[[ServiceBusReceiver], Awaitable[T]]) -> T:
        """Do something else with the receiver, soon; again while it is being opened anew.

        Raises:
            ServiceBusError: The broker refuses.
            ValueError: The receiver could not be opened anew; or a `ServiceBusError` that says so.
        """
        for _ in range(_ATTEMPTS - 1):
            try:
                return await self._run(operation)
            except (ValueError, ServiceBusError) as error:
                if not _is_closed(error):
                    raise
                await asyncio.sleep(self._pause)  # until a receive has the connection back
        return await self._run(operation)

    async def _run(self, operation: Callable[[ServiceBusReceiver], Awaitable[T]]) -> T:
        self._asking += 1
        self._free.clear()
        try:
            await self._interrupt()
            async with self._turn:
                return await operation(self.receiver)
        finally:
            self._asking -= 1
            if not self._asking:
                self._free.set()

    async def _interrupt(self) -> None:
        """End the wait for messages, but not the opening of a connection: what is half open would be nobody's."""
        waiting = self._waiting
        while waiting is not None and not waiting.done() and not self.receiver._running:  # noqa: SLF001  # nothing else tells
            await asyncio.wait({waiting}, timeout=_AGAIN)
        await self._end()

    async def _end(self) -> None:
        if self._waiting is not None:
            await end([self._waiting], again=_AGAIN)


def _is_closed(error: Exception) -> bool:
    """Whether this is what the SDK calls a connection that is gone, or in the moment of its going trips over."""
    return isinstance(error, ValueError) or isinstance(getattr(error, "inner_exception", None), AttributeError)
