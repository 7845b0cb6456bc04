"""Test forwarding: to another queue, and from a dead-letter queue to an error queue."""

from __future__ import annotations

import pytest
from azure.servicebus import ServiceBusSubQueue

from local.service_bus.bus import PATIENCE, Bus, orders, properties, text
from local.service_bus.conftest import Serve
from recoverable_local.service_bus import Depth, Queue, ServiceBusNamespace, Topic

pytestmark = pytest.mark.slow  # the SDK takes a second to open and close its links


def forwarding(serve: Serve) -> Bus:
    return serve(orders(max_delivery_count=1, forward_dead_lettered_messages_to="error"), Queue("error"))


def test_dead_letters_are_forwarded_with_reason_and_source(serve: Serve) -> None:
    bus = forwarding(serve)
    bus.send("hello", application_properties={"tenant": "north"})
    bus.receiver().abandon_message(bus.receive())

    message = bus.receive("error")

    assert (text(message), message.dead_letter_source, message.enqueued_sequence_number, message.delivery_count) == (
        "hello",
        "orders",
        1,
        0,
    )
    assert properties(message) == {
        "tenant": "north",
        "DeadLetterReason": "MaxDeliveryCountExceeded",
        "DeadLetterErrorDescription": "Message could not be consumed after 1 delivery attempts.",
    }
    assert bus.namespace.queue("orders").dead_letters() == []


def test_a_queue_can_forward_all_its_messages(serve: Serve) -> None:
    bus = serve(orders(forward_to="billing"), Queue("billing"))

    bus.send("hello")

    assert (text(bus.receive("billing")), bus.namespace.queue("orders").depth().total) == ("hello", 0)


def test_a_message_goes_through_four_queues_and_no_further(serve: Serve) -> None:
    hops = [Queue(f"hop{number}", forward_to=f"hop{number + 1}") for number in range(5)]
    bus = serve(*hops, Queue("hop5"))

    bus.send("hello", queue="hop0")

    (stranded,) = bus.namespace.queue("hop4").stranded()
    assert stranded.application_properties["DeadLetterReason"] == "MaxTransferHopCountExceeded"


def test_what_the_next_queue_does_not_take_is_stranded_where_it_is_and_can_be_received_there(serve: Serve) -> None:
    bus = serve(orders(forward_to="sessions"), Queue("sessions", requires_session=True))

    bus.send("without a session")

    assert bus.namespace.queue("orders").depth() == Depth(stranded=1)
    receiver = bus.receiver(sub_queue=ServiceBusSubQueue.TRANSFER_DEAD_LETTER)
    with receiver:
        (message,) = receiver.receive_messages(1, max_wait_time=PATIENCE)
        receiver.complete_message(message)
    assert (text(message), bus.namespace.queue("orders").depth()) == ("without a session", Depth())


def test_a_dead_letter_that_the_next_queue_does_not_take_stays_among_the_dead_letters(serve: Serve) -> None:
    sessions = Queue("sessions", requires_session=True)
    bus = serve(orders(forward_dead_lettered_messages_to="sessions"), sessions)
    bus.send("without a session")

    bus.receiver().dead_letter_message(bus.receive())

    assert bus.namespace.queue("orders").depth() == Depth(dead_letters=1)


@pytest.mark.parametrize(
    ("queues", "complaint"),
    [
        ([Queue("orders", forward_to="nowhere")], r"'orders' forwards to 'nowhere'.* add Queue\('nowhere'\)"),
        (
            [Queue("orders", forward_dead_lettered_messages_to="nowhere")],
            r"'orders/\$DeadLetterQueue' forwards to 'nowhere'",
        ),
        ([Queue("orders"), Queue("Orders")], "two entities are called 'Orders'"),
    ],
)
def test_a_namespace_that_cannot_be_is_refused(queues: list[Queue], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        ServiceBusNamespace(queues)


def test_a_queue_can_forward_to_a_topic() -> None:
    ServiceBusNamespace([Queue("orders", forward_to="events")], [Topic("events")])
