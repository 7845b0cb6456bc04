"""Queues of both clouds with messages that carry headers of NServiceBus, so that one test holds for both."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from recoverable import Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import ServiceBusWorld, SqsWorld

World = SqsWorld | ServiceBusWorld
Handler = Callable[[Message], Any]
Serve = Callable[[Handler, Recoverability], World]

SEND: Mapping[type[World], str] = {SqsWorld: "send_message_batch", ServiceBusWorld: "send_messages"}
"""The call by which a function sends to queues."""

HEADERS = "NServiceBus.AmazonSQS.Headers"


def sqs_world(handler: Handler, settings: Recoverability) -> SqsWorld:
    """Return a world of SQS whose queue `orders` the handler serves."""
    world = SqsWorld()
    world.serve("orders", SqsEndpoint(handler, settings), recursive_loop="Allow")
    return world


def service_bus_world(handler: Handler, settings: Recoverability) -> ServiceBusWorld:
    """Return a world of Service Bus whose queue `orders` the handler serves."""
    world = ServiceBusWorld()
    world.serve("orders", ServiceBusEndpoint(handler, settings, queue="orders", connection="ServiceBus", name="orders"))
    return world


def send(world: World, headers: Mapping[str, str], body: str = "{}") -> str:
    """Send a message with headers to `orders`, native as NServiceBus writes it, and return its id."""
    native: dict[str, Any] = {HEADERS: json.dumps(headers)} if isinstance(world, SqsWorld) else dict(headers)
    return world.send("orders", body, attributes=native)
