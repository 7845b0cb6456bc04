"""What reads a function's queue: one message at a time beside others, session by session, or in batches (azure-sdk-for-net, `ServiceBusListener`)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from azure.servicebus import NEXT_AVAILABLE_SESSION
from azure.servicebus.aio import ServiceBusClient, ServiceBusReceiver
from azure.servicebus.exceptions import OperationTimeoutError

from recoverable_local.functions_host.app.host_json import HostOptions
from recoverable_local.functions_host.app.triggers import Trigger
from recoverable_local.functions_host.ending import end
from recoverable_local.functions_host.extension.invocations import Invocations, Messages
from recoverable_local.functions_host.extension.link import Link
from recoverable_local.functions_host.extension.renewal import keep_locked
from recoverable_local.functions_host.journal import Journal, Trouble

T = TypeVar("T")

CORES = os.cpu_count() or 1
CALLS_PER_CORE = 16
"""azure-sdk-for-net, `ServiceBusOptions.MaxConcurrentCalls`."""

ACCEPTORS_PER_CORE = 2
"""How many sessions are asked for beside each other (azure-sdk-for-net, `ServiceBusProcessor`)."""

_WAIT = 60.0  # seconds for a message or a session; azure-sdk-for-net, `ServiceBusRetryOptions.TryTimeout`
_AGAIN = 1.0  # seconds until a cancellation is repeated
_PAUSE = 1.0  # seconds between calls to a broker that does not answer


@dataclass(frozen=True, slots=True)
class Listener:
    """Reads for one function, from `listen` until that is cancelled."""

    trigger: Trigger
    client: ServiceBusClient
    options: HostOptions
    invocations: Invocations
    journal: Journal

    async def listen(self) -> None:
        """Read for ever."""
        if self.trigger.sessions:
            await self._sessions()
        elif self.trigger.many:
            await self._persist(self._batches)
        else:
            await self._singles()

    async def _persist(self, read: Callable[[], Awaitable[T]]) -> T:
        """Read again for as long as the broker cannot be read."""
        while True:
            try:
                return await read()
            except OperationTimeoutError:
                continue  # no session had a message
            except Exception as error:  # noqa: BLE001  # whatever the SDK raises, the queue is still to be read
                text = f"{type(error).__name__}: {error}"
                self.journal(Trouble(f"reading {self.trigger.path}", text, "it is read again"))
                await asyncio.sleep(_PAUSE)

    async def _singles(self) -> None:
        receiver = self._receiver()
        link = Link(receiver)
        slots = asyncio.Semaphore(self.options.max_concurrent_calls or CALLS_PER_CORE * CORES)
        try:
            async with asyncio.TaskGroup() as running:
                while True:
                    await slots.acquire()
                    messages = await self._persist(lambda: self._one(link))
                    serving = running.create_task(self._serve(link, messages))
                    serving.add_done_callback(lambda _: slots.release())
        finally:
            await receiver.close()

    async def _one(self, link: Link) -> Messages:
        while not (found := await link.receive(1, wait=_WAIT)):
            pass
        return found

    async def _serve(self, link: Link, messages: Messages) -> None:
        longest = self.options.max_auto_lock_renewal_duration
        renewing = asyncio.create_task(keep_locked(messages[0], link, longest, self.journal))
        try:
            await self.invocations.run(link, messages)
        finally:
            await end([renewing], again=_AGAIN)

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
        asking = asyncio.Semaphore(ACCEPTORS_PER_CORE * CORES)
        most = 1 if self.trigger.many else self.options.max_concurrent_sessions
        reading = [asyncio.create_task(self._one_after_the_other(asking)) for _ in range(most)]
        try:
            ended, _ = await asyncio.wait(reading, return_when=asyncio.FIRST_COMPLETED)
            ended.pop().result()  # none ends but by what nobody foresaw
        finally:
            await end(reading, again=_AGAIN)  # a task group would cancel each once, which the SDK may swallow

    async def _one_after_the_other(self, asking: asyncio.Semaphore) -> None:
        while True:
            await self._persist(lambda: self._session(asking))

    async def _session(self, asking: asyncio.Semaphore) -> None:
        """One session, until it has had no messages for a while."""
        receiver = self._receiver(session_id=NEXT_AVAILABLE_SESSION, max_wait_time=_WAIT)
        async with asking:
            await receiver.__aenter__()
        link = Link(receiver)
        longest = timedelta(0) if self.trigger.many else self.options.max_auto_lock_renewal_duration
        renewing = asyncio.create_task(keep_locked(receiver.session, link, longest, self.journal))
        try:
            await self._drained(link)
        finally:
            await end([renewing], again=_AGAIN)
            await receiver.close()

    async def _drained(self, link: Link) -> None:
        most = self._batch_size if self.trigger.many else 1
        idle = self.options.session_idle_timeout.total_seconds()
        loop = asyncio.get_running_loop()
        until = loop.time() + idle
        while (left := until - loop.time()) > 0:
            if messages := await link.receive(most, wait=left):
                await self.invocations.run(link, messages)
                until = loop.time() + idle

    def _receiver(self, **options: Any) -> ServiceBusReceiver:
        options["prefetch_count"] = self.options.prefetch_count
        if self.trigger.subscription:
            return self.client.get_subscription_receiver(self.trigger.queue, self.trigger.subscription, **options)
        return self.client.get_queue_receiver(self.trigger.queue, **options)
