"""A coroutine function whose circuit is asked: meanwhile its event loop goes on with other messages."""

from __future__ import annotations

import asyncio
from threading import Event
from typing import TYPE_CHECKING

import pytest

from azure.endpoints import endpoint
from azure.recording import RecordingClient
from azure.triggers import trigger_message
from builders import Boom, recoverability
from recoverable import Message, RateLimit
from recoverable.memory_store import MemoryCircuit

if TYPE_CHECKING:
    from recoverable.circuit import Seen

DEADLINE = 60.0
"""Seconds for what takes none."""


class SlowStore(MemoryCircuit):
    """A store whose answer comes when another message was handled."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.answers = Event(), Event()
        self.was_in_time = False

    def read(self) -> Seen:
        """Wait, and read."""
        self.asked.set()
        self.was_in_time = self.answers.wait(DEADLINE)
        return super().read()


async def fail_or_succeed(message: Message) -> None:
    if message.text == "fails":
        raise Boom("it broke")


@pytest.mark.parametrize(
    ("body", "deliveries"), [("fails", 1), ("succeeds", 2)], ids=["when it fails", "when it comes again"]
)
def test_another_message_is_handled_while_the_circuit_is_asked_about_one(body: str, deliveries: int) -> None:
    store = SlowStore()
    settings = recoverability().__replace__(rate_limit=RateLimit(5, store=store))
    orders = endpoint(fail_or_succeed, settings, client=RecordingClient())

    async def meanwhile() -> None:
        asking = asyncio.create_task(orders(trigger_message(body.encode(), DeliveryCount=deliveries)))
        await asyncio.to_thread(store.asked.wait, DEADLINE)
        await orders(trigger_message(b"succeeds"))
        store.answers.set()
        await asyncio.wait([asking])
        assert isinstance(asking.exception(), Boom | None)

    asyncio.run(meanwhile())

    assert store.was_in_time
