"""Test the namespace with the asynchronous client of the real SDK."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest
from azure.servicebus import ServiceBusMessage
from azure.servicebus.aio import ServiceBusClient, ServiceBusReceiver, ServiceBusSender

from local.service_bus.bus import PATIENCE, orders
from recoverable_local.service_bus import Depth, ServiceBusNamespace

pytestmark = pytest.mark.slow  # the SDK takes a second to open and close its links

Story = Callable[[ServiceBusSender, ServiceBusReceiver], Awaitable[None]]


def tell(namespace: ServiceBusNamespace, story: Story, *, session_id: str | None = None) -> None:
    """Run a coroutine with a sender and a receiver."""

    async def told() -> None:
        client = ServiceBusClient.from_connection_string(namespace.connection_string, retry_total=0)
        async with (
            client,
            client.get_queue_sender("orders") as sender,
            client.get_queue_receiver("orders", session_id=session_id) as receiver,
        ):
            await story(sender, receiver)

    asyncio.run(asyncio.wait_for(told(), 2 * PATIENCE))


def test_messages_are_sent_abandoned_and_completed() -> None:
    counts: list[int | None] = []

    async def story(sender: ServiceBusSender, receiver: ServiceBusReceiver) -> None:
        await sender.send_messages(ServiceBusMessage("hello"))
        for settle in (receiver.abandon_message, receiver.complete_message):
            (message,) = await receiver.receive_messages(1, max_wait_time=PATIENCE)
            counts.append(message.delivery_count)
            await settle(message)

    with ServiceBusNamespace([orders()]) as namespace:
        tell(namespace, story)
        assert (counts, namespace.queue("orders").depth()) == ([0, 1], Depth())


def test_messages_are_scheduled_cancelled_and_looked_at() -> None:
    seen: list[str] = []

    async def story(sender: ServiceBusSender, receiver: ServiceBusReceiver) -> None:
        later = [ServiceBusMessage("a"), ServiceBusMessage("b")]
        first, _ = await sender.schedule_messages(later, datetime.now(UTC) + timedelta(hours=1))
        await sender.cancel_scheduled_messages(first)
        seen.extend(str(message) for message in await receiver.peek_messages(5))

    with ServiceBusNamespace([orders()]) as namespace:
        tell(namespace, story)
        assert (seen, namespace.queue("orders").depth()) == (["b"], Depth(scheduled=1))


def test_locks_are_renewed_and_deferred_messages_are_received() -> None:
    renewed: list[bool] = []

    async def story(sender: ServiceBusSender, receiver: ServiceBusReceiver) -> None:
        await sender.send_messages(ServiceBusMessage("hello"))
        (message,) = await receiver.receive_messages(1, max_wait_time=PATIENCE)
        before = message.locked_until_utc
        renewed.append(before is not None and await receiver.renew_message_lock(message) > before)
        await receiver.defer_message(message)
        (again,) = await receiver.receive_deferred_messages(message.sequence_number or 0)
        await receiver.dead_letter_message(again, reason="Rejected")

    with ServiceBusNamespace([orders()]) as namespace:
        tell(namespace, story)
        assert (renewed, namespace.queue("orders").depth()) == ([True], Depth(dead_letters=1))


def test_a_session_is_held() -> None:
    came: list[tuple[str, str | None, bytes | None]] = []

    async def story(sender: ServiceBusSender, receiver: ServiceBusReceiver) -> None:
        await sender.send_messages(ServiceBusMessage("hello", session_id="a"))
        (message,) = await receiver.receive_messages(1, max_wait_time=PATIENCE)
        await receiver.session.set_state("halfway")
        came.append((str(message), message.session_id, await receiver.session.get_state()))

    with ServiceBusNamespace([orders(requires_session=True)]) as namespace:
        tell(namespace, story, session_id="a")
        assert came == [("hello", "a", b"halfway")]
