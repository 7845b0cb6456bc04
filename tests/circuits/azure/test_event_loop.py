"""A coroutine function whose circuit is asked or changed, or that calls back: meanwhile its event loop goes on with other functions."""

from __future__ import annotations

import asyncio
from threading import Event
from typing import TYPE_CHECKING, Literal

import pytest

from azure.endpoints import endpoint
from azure.recording import RecordingClient
from azure.triggers import trigger_message
from builders import NOW, Boom, recoverability, seconds
from deadlines import DEADLINE
from recoverable import Message, RateLimit
from recoverable._rate_limit.state import CLOSED, Open
from recoverable._rate_limit.store import MemoryCircuit

if TYPE_CHECKING:
    from recoverable._rate_limit.state import Circuit, Snapshot

"""Seconds for what takes none."""

LIMITED = Open(NOW - seconds(60), NOW)
Verb = Literal["read", "change", "on_started", "on_ended"]


class Slow(MemoryCircuit):
    """A circuit for which one thing, done in its name, ends when another message was handled.

    Args:
        circuit: how it is.
        verb: what is slow.
    """

    def __init__(self, circuit: Circuit, verb: Verb) -> None:
        super().__init__()
        super().compare_and_set(super().read(), circuit)
        self._verb, self.began, self.may_end = verb, Event(), Event()
        self.was_in_time = False

    def do(self, verb: Verb) -> None:
        """Wait, if this is what is slow."""
        if verb == self._verb:
            self.began.set()
            self.was_in_time = self.may_end.wait(DEADLINE)

    def read(self) -> Snapshot:
        """Read."""
        self.do("read")
        return super().read()

    def compare_and_set(self, seen: Snapshot, circuit: Circuit, switch: str = "") -> Snapshot | None:
        """Change."""
        self.do("change")
        return super().compare_and_set(seen, circuit, switch)

    def limit(self) -> RateLimit:
        """Return the settings of an endpoint that shares it."""
        return RateLimit(1, store=self, on_started=lambda: self.do("on_started"), on_ended=lambda: self.do("on_ended"))


async def fail_or_succeed(message: Message) -> None:
    if message.text == "fails":
        raise Boom("it broke")


WHEN: dict[str, tuple[Verb, Circuit, str, int]] = {
    "it is asked because a message fails": ("read", CLOSED, "fails", 1),
    "it is asked because a message comes again": ("read", CLOSED, "succeeds", 2),
    "limiting starts": ("change", CLOSED, "fails", 1),
    "a message becomes the probe": ("change", LIMITED, "succeeds", 2),
    "the start is called back": ("on_started", CLOSED, "fails", 1),
    "the end is called back": ("on_ended", LIMITED, "succeeds", 2),
}


@pytest.mark.parametrize(("verb", "circuit", "body", "deliveries"), WHEN.values(), ids=WHEN)
def test_another_function_goes_on_while(verb: Verb, circuit: Circuit, body: str, deliveries: int) -> None:
    store = Slow(circuit, verb)
    settings = recoverability().__replace__(rate_limit=store.limit())
    orders = endpoint(fail_or_succeed, settings, client=RecordingClient())
    bills = endpoint(fail_or_succeed, recoverability(), client=RecordingClient())

    async def meanwhile() -> None:
        asking = asyncio.create_task(orders(trigger_message(body.encode(), DeliveryCount=deliveries)))
        assert await asyncio.to_thread(store.began.wait, DEADLINE)
        await bills(trigger_message(b"succeeds"))
        store.may_end.set()
        await asyncio.wait([asking])
        assert isinstance(asking.exception(), Boom | None)

    asyncio.run(meanwhile())

    assert store.was_in_time
