"""Share one azure-servicebus receiver between coroutines: one uses it at a time, and a settlement interrupts a wait for messages."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from azure.servicebus import ServiceBusReceivedMessage
from azure.servicebus.aio import ServiceBusReceiver
from azure.servicebus.exceptions import ServiceBusError

from recoverable_local.functions_host.ending import cancel_and_wait

T = TypeVar("T")

_ATTEMPTS = 10
_REPEAT_CANCEL = 0.05  # seconds after which a swallowed cancellation is repeated


class Link:
    """A receiver that several coroutines share.

    The SDK does not promise that coroutines can share one. A wait for messages can be cancelled at any moment: the SDK keeps messages that
    have arrived by then for the next wait, and releases messages that arrive while nothing waits, without counting a delivery.

    Args:
        receiver: The receiver; it need not be open yet.
        pause: Seconds between two attempts to use a receiver that is being reopened.
    """

    def __init__(self, receiver: ServiceBusReceiver, *, pause: float = 1.0) -> None:
        self.receiver, self._pause = receiver, pause
        self._lock, self._no_operation = asyncio.Lock(), asyncio.Event()
        self._no_operation.set()
        self._operations = 0
        self._waiting: asyncio.Task[list[ServiceBusReceivedMessage]] | None = None

    async def receive(self, max_messages: int, *, wait: float) -> list[ServiceBusReceivedMessage]:
        """Wait for messages. Return an empty list after the wait, or when an operation of `run` interrupted it.

        Args:
            max_messages: The most messages to receive.
            wait: Seconds to wait for the first message.
        """
        await self._no_operation.wait()
        async with self._lock:
            receiving = self.receiver.receive_messages(max_messages, max_wait_time=wait)
            self._waiting = asyncio.ensure_future(receiving)
            try:
                await asyncio.wait({self._waiting})
            finally:
                await self._cancel_wait()
        return [] if self._waiting.cancelled() else self._waiting.result()

    async def run(self, operation: Callable[[ServiceBusReceiver], Awaitable[T]]) -> T:
        """Perform another operation with the receiver, such as a settlement, and interrupt a wait for messages for it.

        The operation is repeated while the receiver is being reopened.

        Raises:
            ServiceBusError: The broker refuses the operation, or the receiver could not be reopened.
            ValueError: The receiver could not be reopened.
        """
        for _ in range(_ATTEMPTS - 1):
            try:
                return await self._run(operation)
            except (ValueError, ServiceBusError) as error:
                if not _is_closed(error):
                    raise
                await asyncio.sleep(self._pause)  # a `receive` reopens the connection
        return await self._run(operation)

    async def _run(self, operation: Callable[[ServiceBusReceiver], Awaitable[T]]) -> T:
        self._operations += 1
        self._no_operation.clear()
        try:
            await self._interrupt()
            async with self._lock:
                return await operation(self.receiver)
        finally:
            self._operations -= 1
            if not self._operations:
                self._no_operation.set()

    async def _interrupt(self) -> None:
        """Cancel the wait for messages, but never the opening of a connection: a half-open connection would never be closed."""
        waiting = self._waiting
        while waiting is not None and not waiting.done() and not self.receiver._running:  # noqa: SLF001  # the SDK has no public way to tell
            await asyncio.wait({waiting}, timeout=_REPEAT_CANCEL)
        await self._cancel_wait()

    async def _cancel_wait(self) -> None:
        if self._waiting is not None:
            await cancel_and_wait([self._waiting], repeat_after=_REPEAT_CANCEL)


def _is_closed(error: Exception) -> bool:
    """True if the error means that the connection is closed or is just being closed."""
    return isinstance(error, ValueError) or isinstance(getattr(error, "inner_exception", None), AttributeError)
