"""The endpoint as type checkers see it: checked by mypy, never run."""

from __future__ import annotations

from collections.abc import Coroutine
from datetime import timedelta
from typing import Any, assert_type

import azure.functions as func

from recoverable import Message, Recoverability
from recoverable.azure import ServiceBusEndpoint


def place_order(message: Message) -> None:
    """Take a message, as a plain handler."""


async def ship_order(message: Message) -> None:
    """Take a message, as a coroutine handler."""


def length(body: bytes) -> int:
    """Return a number, as no handler does."""
    return len(body)


plain = ServiceBusEndpoint(place_order, Recoverability(), queue="orders", connection="ServiceBus")
coroutine = ServiceBusEndpoint(
    ship_order, queue="orders", connection="ServiceBus", batch=True, lock=timedelta(minutes=1), sessions=True
)
assert_type(plain, ServiceBusEndpoint[None])
assert_type(plain.blueprint(), func.Blueprint)


def trigger(message: func.ServiceBusMessage) -> None:
    """Call the endpoint in a trigger of one's own."""
    plain(message)


async def triggers(messages: list[func.ServiceBusMessage]) -> None:
    """Await the endpoint in a trigger of one's own."""
    await assert_type(coroutine(messages), Coroutine[Any, Any, None])


ServiceBusEndpoint(length, queue="orders", connection="ServiceBus")  # type: ignore[arg-type]  # takes a message
ServiceBusEndpoint(place_order, queue="orders")  # type: ignore[call-overload]  # a connection
