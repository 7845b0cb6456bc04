"""Check that a test sends all that the SDK's message takes, by the SDK's names too."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from azure.servicebus import ServiceBusMessage
from azure.servicebus.amqp import AmqpAnnotatedMessage, AmqpMessageProperties

from local.testing.azure.apps import QUEUE
from recoverable_local.testing import SeenMessage, ServiceBusWorld

PROPERTIES: dict[str | bytes, Any] = {"tenant": "a"}
HOUR = timedelta(hours=1)

Send = Callable[[ServiceBusWorld], object]
WAYS: dict[str, Send] = {
    "the world's words": lambda world: world.send(
        QUEUE, "x", attributes={"tenant": "a"}, group_id="s", delay=HOUR, message_id="m"
    ),
    "the SDK's words": lambda world: world.send(
        QUEUE,
        "x",
        application_properties=PROPERTIES,
        session_id="s",
        scheduled_enqueue_time_utc=world.now + HOUR,
        message_id="m",
    ),
    "the SDK's message": lambda world: world.send(
        QUEUE,
        ServiceBusMessage(
            "x",
            application_properties=PROPERTIES,
            session_id="s",
            scheduled_enqueue_time_utc=world.now + HOUR,
            message_id="m",
        ),
    ),
}


def shown(message: SeenMessage) -> tuple[object, ...]:
    return message.data, message.attributes, message.group_id, message.id


@pytest.mark.parametrize("send", WAYS.values(), ids=WAYS)
def test_a_message_is_sent_in_any_words(service_bus_world: ServiceBusWorld, send: Send) -> None:
    service_bus_world.create_queue(QUEUE, sessions=True)
    due = service_bus_world.now + HOUR
    assert send(service_bus_world) == "m"
    [message] = service_bus_world.queue(QUEUE)
    assert (shown(message), message.visible_at) == ((b"x", {"tenant": "a"}, "s", "m"), due)


def test_a_message_of_amqp_is_sent_as_it_is(service_bus_world: ServiceBusWorld) -> None:
    message = AmqpAnnotatedMessage(data_body=b"x", properties=AmqpMessageProperties(message_id="m"))
    assert service_bus_world.send(QUEUE, message) == "m"
    assert [each.data for each in service_bus_world.queue(QUEUE)] == [b"x"]


def test_a_message_without_an_id_is_given_one(service_bus_world: ServiceBusWorld) -> None:
    given = service_bus_world.send(QUEUE, ServiceBusMessage("x"))
    assert [each.id for each in service_bus_world.queue(QUEUE)] == [given]


TWICE: dict[str, tuple[dict[str, Any], str]] = {
    "properties": (
        {"body": "x", "attributes": {"a": 1}, "application_properties": PROPERTIES},
        "send(application_properties) is given twice, also as attributes; write one of the two",
    ),
    "sessions": (
        {"body": "x", "group_id": "s", "session_id": "s"},
        "send(session_id) is given twice, also as group_id; write one of the two",
    ),
    "the message's own": (
        {"body": ServiceBusMessage("x"), "group_id": "s", "subject": "y"},
        "the message that is sent has its own session_id, subject; set them on it",
    ),
}


@pytest.mark.parametrize(("given", "said"), TWICE.values(), ids=TWICE)
def test_what_is_given_twice_is_refused(service_bus_world: ServiceBusWorld, given: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError) as refused:
        service_bus_world.send(QUEUE, **given)
    assert str(refused.value) == said
