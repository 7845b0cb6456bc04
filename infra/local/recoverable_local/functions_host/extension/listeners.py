"""Receive from a function's queue: single messages concurrently, sessions, or batches (azure-sdk-for-net, `ServiceBusListener`)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from azure.servicebus import NEXT_AVAILABLE_SESSION
from azure.servicebus.aio import ServiceBusClient, ServiceBusReceiver
from azure.servicebus.exceptions import OperationTimeoutError

from recoverable._service_bus.host_json import CALLS_PER_CORE, CORES, HostOptions
from recoverable_local.functions_host.app.triggers import Trigger
from recoverable_local.functions_host.ending import cancel_and_wait
from recoverable_local.functions_host.extension.invocations import Invocations, Messages
from recoverable_local.functions_host.extension.link import Link
from recoverable_local.functions_host.extension.renewal import keep_locked
from recoverable_local.functions_host.journal import Journal, Trouble

T = TypeVar("T")

ACCEPTORS_PER_CORE = 2
"""The most concurrent requests for a session (azure-sdk-for-net, `ServiceBusProcessor`)."""

_WAIT = 60.0  # seconds for a message or a session; azure-sdk-for-net, `ServiceBusRetryOptions.TryTimeout`
_REPEAT_CANCEL = 1.0  # seconds after which a swallowed cancellation is repeated
_PAUSE = 1.0  # seconds between calls to a broker that does not answer


@dataclass(frozen=True, slots=True)
class Listener:
    """Receives messages for one function, from `listen` until that is cancelled."""

    trigger: Trigger
    client: ServiceBusClient
    options: HostOptions
    invocations: Invocations
    journal: Journal

    async def listen(self) -> None:
        """Receive until cancelled."""
        if self.trigger.sessions:
            await self._sessions()
        elif self.trigger.many:
            await self._repeat_until_success(self._batches)
        else:
            await self._singles()

    async def _repeat_until_success(self, receive: Callable[[], Awaitable[T]]) -> T:
        """Repeat an operation until it does not raise, with a pause after each error."""
        while True:
            try:
                return await receive()
            except OperationTimeoutError:
                continue  # no session had a message
            except Exception as error:  # noqa: BLE001  # whatever the SDK raises, the queue must still be read
                text = f"{type(error).__name__}: {error}"
                self.journal(Trouble(f"receiving from {self.trigger.path}", text, "it is tried again"))
                await asyncio.sleep(_PAUSE)

    async def _singles(self) -> None:
        receiver = self._receiver()
        link = Link(receiver)
        slots = asyncio.Semaphore(self.options.max_concurrent_calls or CALLS_PER_CORE * CORES)
        try:
            async with asyncio.TaskGroup() as running:
                while True:
                    await slots.acquire()
                    messages = await self._repeat_until_success(lambda: self._receive_one(link))
                    serving = running.create_task(self._serve(link, messages))
                    serving.add_done_callback(lambda _: slots.release())
        finally:
            await receiver.close()

    async def _receive_one(self, link: Link) -> Messages:
        while not (found := await link.receive(1, wait=_WAIT)):
            pass
        return found

    async def _serve(self, link: Link, messages: Messages) -> None:
        longest = self.options.max_auto_lock_renewal_duration
        renewing = asyncio.create_task(keep_locked(messages[0], link, longest, self.journal))
        try:
            await self.invocations.run(link, messages)
        finally:
            await cancel_and_wait([renewing], repeat_after=_REPEAT_CANCEL)

    async def _batches(self) -> None:
        async with self._receiver() as receiver:
            link = Link(receiver)
            while True:
                if messages := await link.receive(self._batch_size, wait=_WAIT):
                    await self.invocations.run(link, messages)

    @property
    def _batch_size(self) -> int:
        return self.trigger.batch_size or self.options.max_message_batch_size

    async def _sessions(self) -> None:
        accepting = asyncio.Semaphore(ACCEPTORS_PER_CORE * CORES)
        count = 1 if self.trigger.many else self.options.max_concurrent_sessions
        reading = [asyncio.create_task(self._sessions_in_sequence(accepting)) for _ in range(count)]
        try:
            ended, _ = await asyncio.wait(reading, return_when=asyncio.FIRST_COMPLETED)
            ended.pop().result()  # raises: a task ends only by an unexpected error
        finally:
            await cancel_and_wait(
                reading, repeat_after=_REPEAT_CANCEL
            )  # a task group cancels each task only once, and the SDK may swallow that

    async def _sessions_in_sequence(self, accepting: asyncio.Semaphore) -> None:
        while True:
            await self._repeat_until_success(lambda: self._session(accepting))

    async def _session(self, accepting: asyncio.Semaphore) -> None:
        """Accept the next session and process it until it has had no messages for the idle timeout."""
        receiver = self._receiver(session_id=NEXT_AVAILABLE_SESSION, max_wait_time=_WAIT)
        async with accepting:
            await receiver.__aenter__()
        link = Link(receiver)
        longest = timedelta(0) if self.trigger.many else self.options.max_auto_lock_renewal_duration
        renewing = asyncio.create_task(keep_locked(receiver.session, link, longest, self.journal))
        try:
            await self._process_session(link)
        finally:
            await cancel_and_wait([renewing], repeat_after=_REPEAT_CANCEL)
            await receiver.close()

    async def _process_session(self, link: Link) -> None:
        max_messages = self._batch_size if self.trigger.many else 1
        idle = self.options.session_idle_timeout.total_seconds()
        loop = asyncio.get_running_loop()
        until = loop.time() + idle
        while (remaining := until - loop.time()) > 0:
            if messages := await link.receive(max_messages, wait=remaining):
                await self.invocations.run(link, messages)
                until = loop.time() + idle

    def _receiver(self, **options: Any) -> ServiceBusReceiver:
        options["prefetch_count"] = self.options.prefetch_count
        if self.trigger.subscription:
            return self.client.get_subscription_receiver(self.trigger.queue, self.trigger.subscription, **options)
        return self.client.get_queue_receiver(self.trigger.queue, **options)
