"""Test a receiver that coroutines share: a settlement does not wait until messages arrive."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest
from azure.servicebus.aio import ServiceBusReceiver
from azure.servicebus.exceptions import ServiceBusError

from recoverable_local.functions_host.extension.link import Link

LONG = 3600.0  # seconds
SHUT_DOWN = ValueError("the handler has already been shutdown")
CLOSING = ServiceBusError("Handler failed", error=AttributeError("'NoneType' object has no attribute"))


class Receiver:
    """As much of the SDK's receiver as a link uses, with nothing to receive; it notes when two use it at once."""

    def __init__(self, *, refusals: int = 0, refusal: Exception = SHUT_DOWN) -> None:
        self._running = True
        self.refusals, self.refusal, self.settled = refusals, refusal, list[str]()
        self._busy = False

    async def receive_messages(self, most: int, *, max_wait_time: float) -> list[str]:
        self._begin()
        try:
            await asyncio.sleep(max_wait_time)
        finally:
            self._busy = False
        return []

    async def settle(self, message: str) -> None:
        if self.refusals:
            self.refusals -= 1
            raise self.refusal
        self._begin()
        await asyncio.sleep(0)
        self.settled.append(message)
        self._busy = False

    def _begin(self) -> None:
        assert not self._busy, "two use it at once"
        self._busy = True


async def settled(receiver: Receiver, *messages: str) -> list[str]:
    """Settle messages while somebody waits for more without end."""
    link = Link(cast("ServiceBusReceiver", receiver), pause=0.01)

    async def wait_for_ever() -> None:
        while True:
            await link.receive(1, wait=LONG)

    waiting = asyncio.create_task(wait_for_ever())
    await asyncio.sleep(0)
    async with asyncio.timeout(20):
        await asyncio.gather(*(link.run(lambda _, each=each: receiver.settle(each)) for each in messages))  # type: ignore[misc]
    assert not waiting.done()
    waiting.cancel()
    await asyncio.wait({waiting})
    return receiver.settled


def test_who_settles_interrupts_who_waits_for_messages() -> None:
    assert asyncio.run(settled(Receiver(), "one", "two", "three")) == ["one", "two", "three"]


@pytest.mark.parametrize("refusal", [SHUT_DOWN, CLOSING], ids=["closed", "being closed"])
def test_settling_is_tried_again_while_the_receiver_is_opened_anew(refusal: Exception) -> None:
    assert asyncio.run(settled(Receiver(refusals=9, refusal=refusal), "one")) == ["one"]


def test_what_the_broker_refuses_is_not_tried_again() -> None:
    receiver = Receiver(refusals=1, refusal=ServiceBusError("refused"))

    with pytest.raises(ServiceBusError, match="refused"):
        asyncio.run(settled(receiver, "one"))


def test_a_receiver_that_stays_closed_is_given_up() -> None:
    with pytest.raises(ValueError, match="already been shutdown"):
        asyncio.run(settled(Receiver(refusals=10), "one"))


def test_a_receiver_that_is_being_opened_is_left_to_open() -> None:
    """Nothing would ever close a half-open connection."""

    async def opening() -> list[str]:
        receiver = Receiver()
        receiver._running = False
        settling = asyncio.create_task(settled(receiver, "one"))
        await asyncio.sleep(0.2)
        before = list(receiver.settled)
        receiver._running = True
        return [*before, "then", *(await settling)]

    assert asyncio.run(opening()) == ["then", "one"]
