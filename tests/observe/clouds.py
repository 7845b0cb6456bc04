"""Both clouds in virtual time, as tests that hold for both use them: the same settings and handler, climbed to the end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from builders import ERROR_QUEUE, QUEUE, Boom
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from recoverable.extensions import Observe
from recoverable_local.testing import ServiceBusWorld, SqsWorld

World = SqsWorld | ServiceBusWorld
Handler = Callable[[Message], Any]

on_both_clouds = pytest.mark.parametrize("world", [SqsWorld, ServiceBusWorld], ids=["SQS", "Service Bus"])
"""Run a test once on SQS and Lambda, and once on Service Bus and Functions: its argument `world` makes one."""


Settings = dict[str, Any]
"""Settings of an endpoint, by their names."""


def settings(observe: Observe | None = None, *, immediate: int = 1, delayed: int = 1, **more: Any) -> Settings:
    """Return one immediate and one delayed retry after 10 seconds, for an endpoint that is observed."""
    later = Delayed(delayed, timedelta(seconds=10))
    return observed(Recoverability(Immediate(immediate), later, Failed(ERROR_QUEUE), **more), observe)


def observed(recoverability: Recoverability, observe: Observe | None = None) -> Settings:
    """Return the settings of an endpoint that is observed."""
    return {"recoverability": recoverability, "extensions": () if observe is None else (observe,)}


def serve(world: World, handler: Handler, settings: Settings | Recoverability, **more: Any) -> None:
    """Have the queue's messages handled."""
    given = {**(settings if isinstance(settings, dict) else observed(settings)), **more}
    if isinstance(world, SqsWorld):
        world.serve(QUEUE, SqsEndpoint(handler, **given))
    else:
        named: dict[str, Any] = {
            "queue": QUEUE,
            "connection": "ServiceBus",
            "name": "place_order",
            "lock": timedelta(minutes=1),
        }
        world.serve(QUEUE, ServiceBusEndpoint(handler, **named, **given))


def climb(world: World, handler: Handler, settings: Settings | Recoverability, **sent: Any) -> str:
    """Have one message handled to its end, and return its id."""
    serve(world, handler, settings)
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
