"""Build the function apps and endpoints that the tests of the Service Bus world share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import azure.functions as func

from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import ServiceBusWorld

QUEUE, ERRORS = "orders", "orders-error"


class CardDeclined(Exception):
    pass


def decline(_message: Message) -> None:
    raise CardDeclined("do not honour")


def endpoint(
    handler: Callable[[Message], Any] = decline, *, immediate: int = 1, delayed: int = 1, **options: Any
) -> ServiceBusEndpoint[Any]:
    """Return an endpoint with a short ladder: two attempts, and two more after ten seconds."""
    ladder = Recoverability(Immediate(immediate), Delayed(delayed), Failed(ERRORS))
    return ServiceBusEndpoint(
        handler,
        ladder,
        **{"queue": QUEUE, "connection": "ServiceBus", "name": "orders", "lock": timedelta(minutes=1), **options},
    )


def app(function: Callable[[Any], Any], **trigger: Any) -> func.FunctionApp:
    """Return an app whose one function has a trigger of its own."""

    async def coroutine(message: Any) -> None:
        await function(message)

    def plain(message: Any) -> None:
        function(message)

    made = func.FunctionApp()
    declared: dict[str, Any] = {
        "arg_name": "message",
        "queue_name": QUEUE,
        "connection": "ServiceBus",
        "data_type": func.DataType.BINARY,
        **trigger,
    }
    is_coroutine = function.__code__.co_flags & 0x80 if hasattr(function, "__code__") else False
    made.function_name("orders")(made.service_bus_queue_trigger(**declared)(coroutine if is_coroutine else plain))
    return made


def happened(world: ServiceBusWorld, *whats: str) -> list[tuple[int, str, str]]:
    """Return the second, kind and detail of each event; all events, or only those of these kinds."""
    return [(int(e.at.total_seconds()), e.what, e.detail) for e in world.timeline() if not whats or e.what in whats]


def attempts(world: ServiceBusWorld) -> list[tuple[int, str]]:
    """Return the second of each attempt, and how it ended."""
    return [(at, detail) for at, _, detail in happened(world, "attempted")]


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)
