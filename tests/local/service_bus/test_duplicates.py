"""Test duplicate detection: a message id is accepted once within its window."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from azure.servicebus import ServiceBusMessage

from local.service_bus.bus import bodies, orders
from local.service_bus.conftest import Serve

pytestmark = pytest.mark.slow  # the SDK takes a second to open and close its links

WINDOW = timedelta(minutes=5)


def test_a_second_message_of_one_id_is_dropped_without_a_word(serve: Serve) -> None:
    bus = serve(orders(duplicate_detection_window=WINDOW))

    bus.send("first", message_id="1")
    bus.send("second", message_id="1")
    bus.send("other", message_id="2")

    assert bodies(bus.namespace.queue("orders").messages()) == ["first", "other"]


def test_an_id_is_remembered_after_its_message_is_gone(serve: Serve) -> None:
    bus = serve(orders(duplicate_detection_window=WINDOW))
    bus.send("first", message_id="1")
    bus.receiver().complete_message(bus.receive())

    bus.send("second", message_id="1")

    assert bus.namespace.queue("orders").messages() == []


def test_an_id_is_taken_again_after_the_window(serve: Serve) -> None:
    bus = serve(orders(duplicate_detection_window=WINDOW))
    bus.send("first", message_id="1")

    bus.namespace.advance(WINDOW)
    bus.send("second", message_id="1")

    assert bodies(bus.namespace.queue("orders").messages()) == ["first", "second"]


def test_a_scheduled_message_counts_from_when_it_was_sent_and_comes_once(serve: Serve) -> None:
    bus = serve(orders(duplicate_detection_window=WINDOW))
    for body in ("first", "second"):
        in_an_hour = datetime.now(UTC) + timedelta(hours=1)
        bus.sender().schedule_messages(ServiceBusMessage(body, message_id="1"), in_an_hour)

    bus.namespace.advance(timedelta(hours=2))

    assert bodies(bus.namespace.queue("orders").messages()) == ["first"]


def test_without_a_window_ids_do_not_matter(serve: Serve) -> None:
    bus = serve(orders())

    bus.send("first", "second", message_id="1")

    assert bodies(bus.namespace.queue("orders").messages()) == ["first", "second"]
