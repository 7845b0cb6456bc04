"""Make the worlds of both clouds with a function that sends, so that one test holds for both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import ServiceBusWorld, SqsWorld

World = SqsWorld | ServiceBusWorld
Serve = Callable[..., World]

SEND: Mapping[type[World], str] = {SqsWorld: "send_message_batch", ServiceBusWorld: "send_messages"}
"""The call by which a function sends to queues."""


def ladder(immediate: int = 0, delayed: int = 0) -> Recoverability:
    """Return a short ladder."""
    return Recoverability(Immediate(immediate), Delayed(delayed, timedelta(seconds=10)), Failed("error"))


def sqs_world(handler: Callable[[Message], Any], immediate: int = 0, delayed: int = 0) -> SqsWorld:
    """Return a world of SQS that has one message, "order 1", for the handler."""
    world = SqsWorld(create_missing=False)
    world.create_queue("error")
    world.create_queue("orders", visibility_timeout=180, dead_letter_queue="error")
    world.serve("orders", SqsEndpoint(handler, ladder(immediate, delayed)), recursive_loop="Allow")
    world.send("orders", "order 1")
    return world


def service_bus_world(handler: Callable[[Message], Any], immediate: int = 0, delayed: int = 0) -> ServiceBusWorld:
    """Return a world of Service Bus that has one message, "order 1", for the handler."""
    world = ServiceBusWorld(create_missing=False)
    world.create_queue("orders", dead_letter_queue="error")
    serving = ServiceBusEndpoint(
        handler, ladder(immediate, delayed), queue="orders", connection="ServiceBus", name="orders"
    )
    world.serve("orders", serving)
    world.send("orders", "order 1")
    return world


def sent_ids(world: World, queue: str = "invoices") -> list[str]:
    """Return the ids of what was sent to a queue."""
    return [seen.headers["NServiceBus.MessageId"] for seen in world.queue(queue)]
