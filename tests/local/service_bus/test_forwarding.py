"""Messages that a namespace carries on by itself: to another queue, and from a dead-letter queue to an error queue."""

from __future__ import annotations

import pytest

from local.service_bus.bus import Bus, bodies, orders, properties, text
from local.service_bus.conftest import Serve
from recoverable.local.service_bus import Queue, ServiceBusNamespace, Topic

pytestmark = pytest.mark.slow  # the SDK takes a second to open and close its links


def forwarding(serve: Serve) -> Bus:
    return serve(orders(max_delivery_count=1, forward_dead_lettered_messages_to="error"), Queue("error"))


def test_dead_letters_are_forwarded_with_reason_and_source(serve: Serve) -> None:
    bus = forwarding(serve)
    bus.send("hello", application_properties={"tenant": "north"})
    bus.receiver().abandon_message(bus.receive())

    message = bus.receive("error")

    assert (
        text(message),
        message.dead_letter_source,
        message.enqueued_sequence_number,
        message.delivery_count,
    ) == (
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

    (letter,) = bus.namespace.queue("hop4").dead_letters()
    assert letter.application_properties["DeadLetterReason"] == "MaxTransferHopCountExceeded"


def test_what_the_next_queue_does_not_take_is_dead_lettered_where_it_is(serve: Serve) -> None:
    bus = serve(orders(forward_to="sessions"), Queue("sessions", requires_session=True))

    bus.send("without a session")

    assert bodies(bus.namespace.queue("orders").dead_letters()) == ["without a session"]


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
