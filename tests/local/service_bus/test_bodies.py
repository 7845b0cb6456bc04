"""Test unusual messages: bodies of every AMQP type or none, ids of other types, empty lists."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from azure.servicebus import ServiceBusMessage
from azure.servicebus.amqp import AmqpAnnotatedMessage, AmqpMessageBodyType

from local.service_bus.bus import Bus, bodies, text

pytestmark = pytest.mark.slow  # the SDK takes a second to open and close its links

SEQUENCE = [b"message", 123.456, True]
VALUE = {b"key": [-123, b"data", False]}
BODIES: dict[str, tuple[dict[str, Any], AmqpMessageBodyType, Any]] = {
    "parts": ({"data_body": [b"a", b"b"]}, AmqpMessageBodyType.DATA, [b"a", b"b"]),
    "a sequence": ({"sequence_body": SEQUENCE}, AmqpMessageBodyType.SEQUENCE, [SEQUENCE]),
    "a value": ({"value_body": VALUE}, AmqpMessageBodyType.VALUE, VALUE),
}


def test_bodies_of_every_amqp_type_arrive_as_they_were_sent(bus: Bus) -> None:
    for parts, _, _ in BODIES.values():
        bus.sender().send_messages(AmqpAnnotatedMessage(**parts))

    came = [bus.receive().raw_amqp_message for _ in BODIES]

    values = [each.body if each.body_type is AmqpMessageBodyType.VALUE else list(each.body) for each in came]
    assert [(each.body_type, value) for each, value in zip(came, values, strict=True)] == [
        (kind, value) for _, kind, value in BODIES.values()
    ]


def test_a_message_may_have_no_body(bus: Bus) -> None:
    bus.sender().send_messages(ServiceBusMessage(None))

    assert bus.receive().body is None


def test_an_id_that_is_no_text_comes_back_as_it_was_sent(bus: Bus) -> None:
    given = uuid.uuid4()
    bus.send("hello", message_id=given)

    assert bus.receive().message_id == given


def test_of_nothing_nothing_is_sent_scheduled_cancelled_or_received(bus: Bus) -> None:
    bus.sender().send_messages([])
    bus.sender().send_messages(bus.sender().create_message_batch())
    scheduled = bus.sender().schedule_messages([], datetime.now(UTC))
    bus.sender().cancel_scheduled_messages([])

    assert (scheduled, bus.receiver().receive_deferred_messages([])) == ([], [])
    assert bodies(bus.namespace.queue("orders").messages()) == []


def test_a_message_tells_when_it_expires(bus: Bus) -> None:
    bus.send("hello", time_to_live=timedelta(minutes=1))

    message = bus.receive()

    assert message.enqueued_time_utc is not None
    assert (message.time_to_live, message.expires_at_utc) == (
        timedelta(minutes=1),
        message.enqueued_time_utc + timedelta(minutes=1),
    )


def test_a_message_can_be_sent_twice(bus: Bus) -> None:
    message = ServiceBusMessage("hello")
    batch = bus.sender().create_message_batch()
    batch.add_message(message)

    for each in (batch, batch, message, message):
        bus.sender().send_messages(each)

    assert bodies(bus.namespace.queue("orders").messages()) == ["hello"] * 4


def test_mappings_are_sent_as_messages(bus: Bus) -> None:
    bus.sender().send_messages({"body": "hello", "message_id": "42"})

    message = bus.receive()

    assert (text(message), message.message_id) == ("hello", "42")
