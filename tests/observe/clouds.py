"""Both clouds in virtual time, as tests that hold for both use them: the same settings and handler, climbed to the end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from builders import ERROR_QUEUE, QUEUE, Boom
from recoverable import Delayed, Failed, Immediate, Message, Observe, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import ServiceBusWorld, SqsWorld

World = SqsWorld | ServiceBusWorld
Handler = Callable[[Message], Any]

on_both_clouds = pytest.mark.parametrize("world", [SqsWorld, ServiceBusWorld], ids=["SQS", "Service Bus"])
"""Run a test once on SQS and Lambda, and once on Service Bus and Functions: its argument `world` makes one."""


def settings(observe: Observe | None = None, *, immediate: int = 1, delayed: int = 1, **more: Any) -> Recoverability:
    """Return one immediate and one delayed retry after 10 seconds."""
    later = Delayed(delayed, timedelta(seconds=10))
    return Recoverability(Immediate(immediate), later, Failed(ERROR_QUEUE), observe=observe, **more)


def serve(world: World, handler: Handler, recoverability: Recoverability, **more: Any) -> None:
    """Have the queue's messages handled."""
    if isinstance(world, SqsWorld):
        world.serve(QUEUE, SqsEndpoint(handler, recoverability, **more))
    else:
        named: dict[str, Any] = {
            "queue": QUEUE,
            "connection": "ServiceBus",
            "name": "place_order",
            "lock": timedelta(minutes=1),
        }
        world.serve(QUEUE, ServiceBusEndpoint(handler, recoverability, **named, **more))


def climb(world: World, handler: Handler, recoverability: Recoverability, **sent: Any) -> str:
    """Have one message handled to its end, and return its id."""
    serve(world, handler, recoverability)
    message_id = world.send(QUEUE, "an order", **sent)
    world.run()
    return message_id


def failing(message: Message) -> None:
    """Fail, always."""
    raise Boom("it broke")


async def failing_coroutine(message: Message) -> None:
    """Fail, always."""
    raise Boom("it broke")


both_kinds_of_handlers = pytest.mark.parametrize("handler", [failing, failing_coroutine], ids=["plain", "coroutine"])
