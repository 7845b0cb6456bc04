"""Test the end of tasks that swallow a cancellation, as azure-servicebus sometimes does."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, Self, cast

from azure.servicebus.aio import ServiceBusClient

from deadlines import DEADLINE
from recoverable._service_bus.host_json import HostOptions
from recoverable_local.functions_host.app.triggers import Trigger
from recoverable_local.functions_host.ending import cancel_and_wait
from recoverable_local.functions_host.extension.invocations import Invocations
from recoverable_local.functions_host.extension.listeners import Listener
from recoverable_local.functions_host.journal import FunctionLog, Journal

AGAIN = 0.01  # seconds
LONG = 3600.0  # seconds


async def stubborn() -> None:
    """Continue after the first cancellation."""
    try:
        await asyncio.sleep(LONG)
    except asyncio.CancelledError:
        await asyncio.sleep(LONG)


def test_what_swallows_a_cancellation_is_cancelled_again() -> None:
    async def ending() -> bool:
        task = asyncio.create_task(stubborn())
        await asyncio.sleep(0)
        async with asyncio.timeout(DEADLINE):
            await cancel_and_wait([task], repeat_after=AGAIN)
        return task.cancelled()

    assert asyncio.run(ending())


def test_who_is_cancelled_while_ending_others_ends_them_first() -> None:
    async def ending() -> bool:
        task = asyncio.create_task(stubborn())
        await asyncio.sleep(0)
        outer = asyncio.create_task(cancel_and_wait([task], repeat_after=AGAIN))
        await asyncio.sleep(0)
        outer.cancel()
        async with asyncio.timeout(DEADLINE):
            await asyncio.wait([outer])
        return task.cancelled() and outer.cancelled()

    assert asyncio.run(ending())


class Receiver:
    """A receiver without a session or a message, whose opening swallows a cancellation."""

    session = SimpleNamespace(locked_until_utc=None)
    _running = True

    async def __aenter__(self) -> Self:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(LONG)
        return self

    async def receive_messages(self, _most: int, *, max_wait_time: float) -> list[Any]:
        await asyncio.sleep(max_wait_time)
        return []

    async def close(self) -> None:
        """Nothing to close."""


def test_a_listener_that_waits_for_sessions_ends() -> None:
    client = SimpleNamespace(get_queue_receiver=lambda *_, **__: Receiver())
    listener = Listener(
        Trigger("orders", "orders", sessions=True),
        cast("ServiceBusClient", client),
        HostOptions(session_idle_timeout=timedelta(seconds=LONG), max_concurrent_sessions=3),
        cast("Invocations", None),
        Journal(FunctionLog),
    )

    async def listening() -> None:
        task = asyncio.create_task(listener.listen())
        await asyncio.sleep(AGAIN)
        async with asyncio.timeout(DEADLINE):
            await cancel_and_wait([task], repeat_after=AGAIN)

    asyncio.run(listening())
