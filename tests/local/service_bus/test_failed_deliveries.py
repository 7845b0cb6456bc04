"""Test messages that receivers abandon, defer or dead-letter."""

from __future__ import annotations

import pytest
from azure.servicebus import ServiceBusReceiveMode, ServiceBusReceiver, ServiceBusSubQueue
from azure.servicebus.exceptions import MessageNotFoundError

from local.service_bus.bus import PATIENCE, Bus, bodies, orders, properties, text
from local.service_bus.conftest import Serve
from recoverable_local.service_bus import Depth

pytestmark = pytest.mark.slow  # the SDK takes a second to open and close its links


def dead_letters(bus: Bus) -> ServiceBusReceiver:
    return bus.receiver(sub_queue=ServiceBusSubQueue.DEAD_LETTER)


def test_an_abandoned_message_comes_again_at_once_and_counts(bus: Bus) -> None:
    bus.send("hello")
    bus.receiver().abandon_message(bus.receive())

    again = bus.receive()

    assert (text(again), again.delivery_count, again.sequence_number) == ("hello", 1, 1)


def test_an_abandoned_message_keeps_its_place(bus: Bus) -> None:
    bus.send("first", "second")
    bus.receiver().abandon_message(bus.receive())

    assert text(bus.receive()) == "first"


def test_the_last_allowed_delivery_that_fails_makes_a_dead_letter(serve: Serve) -> None:
    bus = serve(orders(max_delivery_count=2))
    bus.send("hello", application_properties={"tenant": "north"})
    for _ in range(2):
        bus.receiver().abandon_message(bus.receive())

    with dead_letters(bus) as receiver:
        (message,) = receiver.receive_messages(1, max_wait_time=PATIENCE)
        receiver.complete_message(message)

    assert (text(message), message.delivery_count, properties(message)) == (
        "hello",
        2,
        {
            "tenant": "north",
            "DeadLetterReason": "MaxDeliveryCountExceeded",
            "DeadLetterErrorDescription": "Message could not be consumed after 2 delivery attempts.",
        },
    )
    assert bus.namespace.queue("orders").depth() == Depth()


def test_a_dead_letter_tells_why(bus: Bus) -> None:
    bus.send("hello")
    bus.receiver().dead_letter_message(bus.receive(), reason="Rejected", error_description="no such customer")

    with dead_letters(bus) as receiver:
        (message,) = receiver.receive_messages(1, max_wait_time=PATIENCE)

    assert (text(message), message.dead_letter_reason, message.dead_letter_error_description) == (
        "hello",
        "Rejected",
        "no such customer",
    )


def test_a_dead_letter_is_never_given_up(serve: Serve) -> None:
    bus = serve(orders(max_delivery_count=1))
    bus.send("hello")
    bus.receiver().abandon_message(bus.receive())

    with dead_letters(bus) as receiver:
        for _ in range(3):
            (message,) = receiver.receive_messages(1, max_wait_time=PATIENCE)
            receiver.abandon_message(message)

    assert bodies(bus.namespace.queue("orders").dead_letters()) == ["hello"]


def test_a_deferred_message_comes_only_by_its_number(bus: Bus) -> None:
    bus.send("hello")
    message = bus.receive()
    bus.receiver().defer_message(message)

    assert (bus.nothing_comes(), bus.namespace.queue("orders").depth()) == (True, Depth(deferred=1))
    (again,) = bus.receiver().receive_deferred_messages(message.sequence_number or 0)
    bus.receiver().complete_message(again)
    assert (text(again), bus.namespace.queue("orders").depth()) == ("hello", Depth())


def test_deferred_messages_come_all_or_none(bus: Bus) -> None:
    bus.send("hello")
    bus.receiver().defer_message(bus.receive())

    with pytest.raises(MessageNotFoundError):
        bus.receiver().receive_deferred_messages([1, 2])

    (again,) = bus.receiver().receive_deferred_messages([1])
    assert text(again) == "hello"


def test_a_deferred_message_that_is_abandoned_stays_deferred(bus: Bus) -> None:
    bus.send("hello")
    bus.receiver().defer_message(bus.receive())
    (again,) = bus.receiver().receive_deferred_messages([1])

    bus.receiver().abandon_message(again)

    assert bus.namespace.queue("orders").depth() == Depth(deferred=1)


def test_a_deferred_message_can_be_renewed_and_dead_lettered(bus: Bus) -> None:
    bus.send("hello")
    bus.receiver().defer_message(bus.receive())
    (message,) = bus.receiver().receive_deferred_messages(1)

    bus.receiver().renew_message_lock(message)
    bus.receiver().dead_letter_message(message, reason="Rejected", error_description="by hand")

    (letter,) = bus.namespace.queue("orders").dead_letters()
    assert letter.application_properties == {"DeadLetterReason": "Rejected", "DeadLetterErrorDescription": "by hand"}


def test_a_deferred_message_can_be_received_and_deleted(bus: Bus) -> None:
    bus.send("hello")
    bus.receiver().defer_message(bus.receive())

    with bus.receiver(receive_mode=ServiceBusReceiveMode.RECEIVE_AND_DELETE) as receiver:
        (message,) = receiver.receive_deferred_messages(1)

    assert (text(message), bus.namespace.queue("orders").depth().total) == ("hello", 0)
