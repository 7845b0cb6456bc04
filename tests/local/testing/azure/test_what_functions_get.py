"""Check that a function gets what the host and its worker make of a message."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import azure.functions as func
import pytest
from azure.functions.servicebus import ServiceBusMessageInConverter
from azure.servicebus import ServiceBusMessage
from azure.servicebus._pyamqp import _encode
from azure.servicebus.amqp import AmqpAnnotatedMessage, AmqpMessageProperties

from local.testing.azure.apps import QUEUE, app
from recoverable_local.testing import ServiceBusWorld
from recoverable_local.testing.azure.host.trigger import Decoder


def delivered(world: ServiceBusWorld, **trigger: Any) -> list[func.ServiceBusMessage]:
    """Return what the function gets of all messages that were sent."""
    got: list[func.ServiceBusMessage] = []
    world.serve(QUEUE, app(lambda messages: got.extend(as_list(messages)), **trigger))
    world.run()
    return got


def as_list(messages: Any) -> list[func.ServiceBusMessage]:
    return messages if isinstance(messages, list) else [messages]


def test_a_message_tells_what_the_host_tells(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.send(
        QUEUE, b"\xff\x00", message_id="m1", attributes={"tenant": "a", "n": 3, "f": 0.5, "b": True},
        correlation_id="c1", subject="s1", to="t1", reply_to="r1", reply_to_session_id="rs", content_type="x/y",
        partition_key="p1", time_to_live=timedelta(minutes=5),
    )  # fmt: skip
    began = service_bus_world.now.replace(tzinfo=None)  # which the host leaves out
    [message] = delivered(service_bus_world)
    fields = {
        name: getattr(message, name)
        for name in (
            "application_properties", "content_type", "correlation_id", "delivery_count", "enqueued_time_utc",
            "expires_at_utc", "label", "message_id", "partition_key", "reply_to", "reply_to_session_id", "session_id",
            "subject", "to", "locked_until", "dead_letter_source",
        )
    }  # fmt: skip
    assert (message.get_body(), fields) == (
        b"\xff\x00",
        {
            "application_properties": {"tenant": "a", "n": 3, "f": 0.5, "b": True},
            "content_type": "x/y",
            "correlation_id": "c1",
            "delivery_count": 1,
            "enqueued_time_utc": began,
            "expires_at_utc": began + timedelta(minutes=5),
            "label": "s1",
            "message_id": "m1",
            "partition_key": "p1",
            "reply_to": "r1",
            "reply_to_session_id": "rs",
            "session_id": None,
            "subject": "s1",
            "to": "t1",
            "locked_until": None,
            "dead_letter_source": None,
        },
    )


def test_properties_may_hold_whatever_a_sender_writes(service_bus_world: ServiceBusWorld) -> None:
    inside = {"list": ["a", ["b"]], "map": {"a": {"b": 1}}}
    service_bus_world.send(QUEUE, "x", attributes=inside)
    [message] = delivered(service_bus_world)
    assert message.application_properties == inside


def test_a_message_without_a_body_has_an_empty_one(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.create_queue(QUEUE)
    with service_bus_world.client.get_queue_sender(QUEUE) as sender:
        sender.send_messages(ServiceBusMessage(None))
    [message] = delivered(service_bus_world)
    assert message.get_body() == b""


@pytest.mark.parametrize("identity", [7, UUID(int=7)], ids=["number", "uuid"])
def test_an_id_that_is_no_text_becomes_one(service_bus_world: ServiceBusWorld, identity: Any) -> None:
    service_bus_world.create_queue(QUEUE)
    with service_bus_world.client.get_queue_sender(QUEUE) as sender:
        ids = AmqpMessageProperties(message_id=identity, correlation_id=identity)
        sender.send_messages(AmqpAnnotatedMessage(data_body=b"x", properties=ids))
    [message] = delivered(service_bus_world)
    assert (message.message_id, message.correlation_id) == (str(identity), str(identity))


def test_a_message_without_time_to_live_expires_at_the_end_of_time(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.send(QUEUE, "x")
    [message] = delivered(service_bus_world)
    assert str(message.expires_at_utc) == "9999-12-31 23:59:59.999999"


def test_a_json_body_overwrites_what_a_text_trigger_is_told(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.send(QUEUE, {"messageid": "mine", "DeliveryCount": 9, "to": None, "subject": ["x"]})
    [message] = delivered(service_bus_world, data_type=func.DataType.STRING)
    assert (message.message_id, message.delivery_count, message.to, message.subject) == ("mine", 9, None, None)


def test_a_trigger_that_says_nothing_delivers_text(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.send(QUEUE, {"MessageId": "mine"})
    [message] = delivered(service_bus_world, data_type=None)
    assert message.message_id == "mine"


def test_the_texts_of_a_batch_shift_when_one_has_none(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.send(QUEUE, "a", attributes={"n": 1})
    service_bus_world.send(QUEUE, "b", correlation_id="of b", attributes={"n": 2})
    first, second = delivered(service_bus_world, cardinality="many")
    assert (first.correlation_id, second.correlation_id) == ("of b", None)
    assert [m.application_properties for m in (first, second)] == [{"n": 1}, {"n": 2}]
    assert [(m.get_body(), m.delivery_count) for m in (first, second)] == [(b"a", 1), (b"b", 1)]


def test_properties_come_as_json_has_them(service_bus_world: ServiceBusWorld) -> None:
    from uuid import UUID

    service_bus_world.send(QUEUE, "x", attributes={"id": UUID(int=1), "big": {"TYPE": "LONG", "VALUE": 2**40}})
    [message] = delivered(service_bus_world)
    assert message.application_properties == {"id": str(UUID(int=1)), "big": 2**40}


def test_a_char_comes_as_its_letter(service_bus_world: ServiceBusWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_encode._ENCODE_MAP, "RAW", lambda output, value, **_: output.extend(value))
    service_bus_world.send(QUEUE, "x", attributes={"letter": {"TYPE": "RAW", "VALUE": b"\x73\0\0\0A"}})
    [message] = delivered(service_bus_world)
    assert message.application_properties == {"letter": "A"}


def test_what_cannot_be_decoded_is_no_call_and_the_others_go_on(
    service_bus_world: ServiceBusWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(_encode._ENCODE_MAP, "RAW", lambda output, value, **_: output.extend(value))
    map_for_a_key = {"TYPE": "RAW", "VALUE": b"\xc1\x06\x02\xc1\x01\x00\xa1\x00"}
    service_bus_world.create_queue(QUEUE, max_delivery_count=2)
    service_bus_world.send(QUEUE, "odd", attributes={"map": map_for_a_key})
    service_bus_world.send(QUEUE, "good")
    [message] = delivered(service_bus_world)
    assert message.get_body() == b"good"


def test_a_date_is_the_same_text_for_the_function_and_for_the_test(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.send(QUEUE, "x", attributes={"due": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)})
    [seen] = service_bus_world.queue(QUEUE)
    [message] = delivered(service_bus_world)
    assert message.application_properties == seen.attributes == {"due": "2026-01-02T03:04:05Z"}


def test_a_dead_letter_tells_where_it_died(service_bus_world: ServiceBusWorld) -> None:
    def fail(_message: Any) -> None:
        raise ValueError

    service_bus_world.create_queue("bills", max_delivery_count=1, dead_letter_queue=QUEUE)
    service_bus_world.serve("bills", app(fail, queue_name="bills"))
    service_bus_world.send("bills", "x")
    [message] = delivered(service_bus_world)
    assert message.dead_letter_source == "bills"


@pytest.mark.parametrize(
    "date",
    [
        "2026-01-02T03:04:05",
        "2026-01-02T03:04:05.5",
        "2026-01-02T03:04:05.000001",
        "2026-01-02T03:04:05.12Z",
        "2026-01-02T03:04:05.12+00:00",
        "9999-12-31T23:59:59.9999999",
        "",
    ],
)
def test_dates_are_read_as_the_worker_reads_them(date: str) -> None:
    assert Decoder._parse_datetime(date) == ServiceBusMessageInConverter._parse_datetime(date)
