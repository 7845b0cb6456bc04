"""Test sending, receiving and settling messages through the real SDK."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest
from azure.servicebus import ServiceBusMessage, ServiceBusReceiveMode
from azure.servicebus.amqp import AmqpMessageHeader
from azure.servicebus.exceptions import MessagingEntityNotFoundError

from local.service_bus.bus import PATIENCE, SOON, Bus, bodies, properties, several, text
from recoverable_local.service_bus import Depth

pytestmark = pytest.mark.slow  # the SDK takes a second to open and close its links


def test_what_is_sent_is_received(bus: Bus) -> None:
    given: dict[str, Any] = {
        "message_id": "42", "session_id": None, "correlation_id": "c", "subject": "s", "content_type": "text/plain",
        "to": "t", "reply_to": "r",
    }  # fmt: skip
    bus.send("hello", application_properties={"tenant": "north", "size": 3, "vip": True}, **given)

    message = bus.receive()

    assert {name: getattr(message, name) for name in given} == given
    assert (text(message), properties(message), message.delivery_count) == (
        "hello",
        {"tenant": "north", "size": 3, "vip": True},
        0,
    )


def test_a_completed_message_is_gone(bus: Bus) -> None:
    bus.send("hello")

    bus.receiver().complete_message(bus.receive())

    assert bus.namespace.queue("orders").depth() == Depth()


def test_messages_come_in_the_order_of_their_sequence_numbers(bus: Bus) -> None:
    bus.send("a", "b", "c")

    came = several(bus.receiver(), 3)

    assert [(message.sequence_number, text(message)) for message in came] == [(1, "a"), (2, "b"), (3, "c")]


def test_a_receiver_can_be_iterated_until_nothing_comes(bus: Bus) -> None:
    bus.send("a", "b", "c")

    with bus.receiver(max_wait_time=PATIENCE) as receiver:
        came = [text(message) for message in islice(receiver, 3)]
    with bus.receiver(max_wait_time=SOON) as receiver:
        came += [text(message) for message in receiver]

    assert came == ["a", "b", "c"]


def test_a_batch_is_taken_message_by_message(bus: Bus) -> None:
    batch = bus.sender().create_message_batch()
    for number in range(50):
        batch.add_message(ServiceBusMessage(f"order {number}"))

    bus.sender().send_messages(batch)

    assert bodies(bus.namespace.queue("orders").messages()) == [f"order {number}" for number in range(50)]


def test_a_message_larger_than_a_frame_arrives_whole(bus: Bus) -> None:
    large = "ä" * 100_000

    bus.send(large)

    assert text(bus.receive()) == large


def test_a_message_without_an_id_gets_one(bus: Bus) -> None:
    bus.sender().send_messages(ServiceBusMessage("hello", message_id=None))

    assert bus.namespace.queue("orders").messages()[0].message_id


def test_all_sections_of_an_amqp_message_arrive(bus: Bus) -> None:
    sent = ServiceBusMessage("hello")
    sent.raw_amqp_message.annotations = {"annotation": 2}
    sent.raw_amqp_message.delivery_annotations = {"delivery": 3}
    sent.raw_amqp_message.header = AmqpMessageHeader(priority=5)
    sent.raw_amqp_message.footer = {"footer": 6}
    bus.sender().send_messages(sent)

    message = bus.receive()

    raw = message.raw_amqp_message
    assert raw.header is not None
    assert raw.delivery_annotations == {b"delivery": 3, b"x-opt-lock-token": message.lock_token}
    assert (raw.header.priority, raw.footer, (raw.annotations or {})[b"annotation"]) == (5, {b"footer": 6}, 2)


def test_a_received_message_can_be_sent_on(bus: Bus) -> None:
    bus.send("hello", message_id="42")
    message = bus.receive()

    bus.sender().send_messages(message)
    bus.receiver().complete_message(message)

    (seen,) = bus.receiver().peek_messages(5)
    assert (text(seen), seen.message_id, seen.sequence_number, seen.locked_until_utc) == ("hello", "42", 2, None)


def test_a_locked_message_is_hidden_from_other_receivers(bus: Bus) -> None:
    bus.send("hello")
    bus.receive()

    with bus.receiver(prefetch_count=1) as other:
        assert other.receive_messages(1, max_wait_time=SOON) == []


def test_a_message_received_and_deleted_is_gone_at_once(bus: Bus) -> None:
    bus.send("hello")

    with bus.receiver(receive_mode=ServiceBusReceiveMode.RECEIVE_AND_DELETE) as receiver:
        came = receiver.receive_messages(1, max_wait_time=PATIENCE)

    assert ([text(message) for message in came], bus.namespace.queue("orders").depth()) == (["hello"], Depth())


def test_what_a_closed_receiver_had_fetched_ahead_comes_again_uncounted(bus: Bus) -> None:
    bus.send("a", "b", "c")

    with bus.receiver(prefetch_count=10) as receiver:
        receiver.receive_messages(1, max_wait_time=PATIENCE)

    seen = bus.namespace.queue("orders").messages()
    assert [(each.state, each.delivery_count) for each in seen] == [("locked", 0), ("active", 0), ("active", 0)]


def test_looking_ahead_neither_locks_nor_counts(bus: Bus) -> None:
    bus.send("a", "b", "c")

    seen = bus.receiver().peek_messages(2, sequence_number=2)

    assert ([text(message) for message in seen], bus.namespace.queue("orders").depth()) == (["b", "c"], Depth(active=3))


def test_looking_into_an_empty_queue_shows_nothing(bus: Bus) -> None:
    assert bus.receiver().peek_messages(5) == []


def test_a_queue_that_does_not_exist_is_not_found(bus: Bus) -> None:
    with pytest.raises(MessagingEntityNotFoundError, match="'nowhere' could not be found"):
        bus.send("hello", queue="nowhere")
