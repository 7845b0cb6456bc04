"""Test the size limits, and the SDK's errors for them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from azure.servicebus import ServiceBusMessage
from azure.servicebus.exceptions import MessageSizeExceededError, ServiceBusError

from local.service_bus.bus import Bus, orders
from local.service_bus.conftest import Serve

pytestmark = pytest.mark.slow  # the SDK takes a second to open and close its links

KIB = 1024


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"application_properties": {"trace": "x" * 33 * KIB}}, r"property 'trace' takes \d+ bytes; 32768 are allowed"),
        (
            {"application_properties": {f"p{number}": "x" * 30 * KIB for number in range(3)}},
            r"properties take \d+ bytes together; 65536 are allowed",
        ),
        ({"application_properties": {"trace": "x"}, "subject": "x" * 65 * KIB}, "properties take"),
    ],
    ids=["one property", "all properties", "the message's own fields count too"],
)
def test_properties_that_are_too_large_are_refused(bus: Bus, fields: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ServiceBusError, match=complaint):
        bus.send("hello", **fields)

    assert bus.namespace.queue("orders").messages() == []


def test_properties_at_their_limit_are_taken(bus: Bus) -> None:
    bus.send("hello", application_properties={"a": "x" * (32 * KIB - 5), "b": "x" * (31 * KIB)})

    assert bus.namespace.queue("orders").depth().active == 1


def test_a_message_of_more_than_256_kib_is_refused(bus: Bus) -> None:
    with pytest.raises(MessageSizeExceededError):
        bus.send("x" * 256 * KIB)

    assert bus.namespace.queue("orders").messages() == []


def test_a_batch_counts_as_one_message(bus: Bus) -> None:
    with pytest.raises(MessageSizeExceededError):
        bus.send("x" * 128 * KIB, "x" * 128 * KIB)

    assert bus.namespace.queue("orders").messages() == []


@pytest.mark.parametrize("size", [1, 10, 1000])
def test_a_batch_that_the_sdk_has_filled_is_taken(bus: Bus, size: int) -> None:
    batch, sent = bus.sender().create_message_batch(), 0
    with suppress(ValueError):  # it is full
        while True:
            batch.add_message(ServiceBusMessage("x" * size, message_id=str(sent)))
            sent += 1

    bus.sender().send_messages(batch)

    assert bus.namespace.queue("orders").depth().active == sent


def test_a_queue_of_a_larger_tier_takes_larger_messages(serve: Serve) -> None:
    bus = serve(orders(max_message_size=KIB * KIB))

    bus.send("x" * 512 * KIB)

    assert bus.namespace.queue("orders").depth().active == 1


def test_one_message_that_is_refused_stops_its_whole_batch(bus: Bus) -> None:
    refused = ServiceBusMessage("b", application_properties={"trace": "x" * 33 * KIB})

    with pytest.raises(ServiceBusError, match="trace"):
        bus.sender().send_messages([ServiceBusMessage("a"), refused])

    assert bus.namespace.queue("orders").messages() == []
