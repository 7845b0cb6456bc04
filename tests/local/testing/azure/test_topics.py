"""Check that a topic reaches endpoints by forwarding to their queues, and functions with a topic trigger by their subscriptions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import azure.functions as func
import pytest
from azure.servicebus import ServiceBusMessage
from azure.servicebus.exceptions import ServiceBusError

from local.testing.azure.apps import ERRORS, QUEUE, attempts, endpoint, happened
from recoverable import Message
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import ServiceBusWorld

TOPIC, AUDIT = "events", "audit"
START = datetime(2030, 1, 1, tzinfo=UTC)


def topic_app(subscription: str = AUDIT) -> tuple[func.FunctionApp, list[bytes]]:
    """Return an app whose one function reads a topic's subscription, and the bodies that it gets."""
    made, got = func.FunctionApp(), list[bytes]()

    @made.service_bus_topic_trigger(
        arg_name="message", topic_name=TOPIC, subscription_name=subscription, connection="X", data_type="binary"
    )
    def audit(message: func.ServiceBusMessage) -> None:
        got.append(message.get_body())

    return made, got


def test_a_retry_reaches_the_endpoint_alone(service_bus_world: ServiceBusWorld) -> None:
    world, got = service_bus_world, list[str]()

    def read(message: Message) -> None:
        got.append(message.text)

    world.create_subscription(TOPIC, QUEUE, forward_to=QUEUE)
    world.create_subscription(TOPIC, AUDIT, forward_to=AUDIT)
    world.serve(QUEUE, endpoint())
    world.serve(AUDIT, ServiceBusEndpoint(read, queue=AUDIT, connection="X"))
    event = world.send(TOPIC, "order 42")
    world.run()
    declined = "CardDeclined: do not honour"
    [failed] = world.queue(ERRORS)
    assert got == ["order 42"]
    assert attempts(world) == [(0, declined), (0, "succeeded"), (0, declined), (10, declined), (10, declined)]
    assert (failed.id, failed.failed_queue, failed.data) == (event, QUEUE, b"order 42")


def test_the_timeline_tells_how_an_event_came_to_the_queue(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.create_subscription(TOPIC, QUEUE, forward_to=QUEUE)
    service_bus_world.send(TOPIC, "x")
    where = [(event.what, event.queue) for event in service_bus_world.timeline()]
    assert where == [("sent", TOPIC), ("forwarded", f"{TOPIC}/Subscriptions/{QUEUE}"), ("forwarded", QUEUE)]


def test_a_function_with_a_topic_trigger_reads_its_subscription(service_bus_world: ServiceBusWorld) -> None:
    made, got = topic_app()
    service_bus_world.serve(f"{TOPIC}/Subscriptions/{AUDIT}", made)
    service_bus_world.send(TOPIC, "order 42")
    service_bus_world.run()
    assert got == [b"order 42"]
    assert service_bus_world.queue(f"{TOPIC}/Subscriptions/{AUDIT}") == []


def test_dead_letters_of_a_subscription_are_forwarded(service_bus_world: ServiceBusWorld) -> None:
    def fail(message: func.ServiceBusMessage) -> None:
        raise ValueError(message)

    made = func.FunctionApp()
    trigger = made.service_bus_topic_trigger("message", "X", TOPIC, AUDIT, data_type=func.DataType.BINARY)
    made.function_name("audit")(trigger(fail))
    service_bus_world.create_subscription(TOPIC, AUDIT, max_delivery_count=1, dead_letter_queue=ERRORS)
    service_bus_world.serve(f"{TOPIC}/Subscriptions/{AUDIT}", made)
    event = service_bus_world.send(TOPIC, "x")
    service_bus_world.run()
    assert [dead.id for dead in service_bus_world.queue(ERRORS)] == [event]


def test_copies_of_one_event_are_messages_of_their_own(service_bus_world: ServiceBusWorld) -> None:
    for name in (QUEUE, AUDIT):
        service_bus_world.create_subscription(TOPIC, name, forward_to=name)
    event = service_bus_world.send(TOPIC, "x")
    copies = [service_bus_world.queue(name)[0] for name in (QUEUE, AUDIT)]
    assert {copy.id for copy in copies} == {event}
    assert len({copy.broker_id for copy in copies}) == 2


def test_a_handlers_own_client_sends_to_a_topic_and_reads_a_subscription(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.create_subscription(TOPIC, AUDIT)
    service_bus_world.client.get_topic_sender(TOPIC).send_messages(ServiceBusMessage("x"))
    with service_bus_world.client.get_subscription_receiver(TOPIC, AUDIT) as receiver:
        assert [str(each) for each in receiver.receive_messages()] == ["x"]


def test_nobody_sends_to_a_subscription(service_bus_world: ServiceBusWorld) -> None:
    sender = service_bus_world.client.get_queue_sender(f"{TOPIC}/Subscriptions/{AUDIT}")
    with pytest.raises(ServiceBusError, match="a topic's subscription; let it forward to a queue"):
        sender.send_messages(ServiceBusMessage("x"))
    with pytest.raises(ServiceBusError, match="a topic's subscription; let it forward to a queue"):
        sender.schedule_messages(ServiceBusMessage("x"), START + timedelta(hours=1))


def test_the_subscriptions_that_an_app_reads_are_named_in_the_error(service_bus_world: ServiceBusWorld) -> None:
    made, _ = topic_app()
    with pytest.raises(LookupError, match="no function of this app reads 'orders', but events/Subscriptions/audit;"):
        service_bus_world.serve(QUEUE, made)


@pytest.mark.parametrize(
    ("served", "said"),
    [
        (TOPIC, "'events' is a topic; serve the queue to which its subscription forwards"),
        (
            f"{TOPIC}/Subscriptions/{AUDIT}",
            "'events/Subscriptions/audit' forwards all its messages, so nobody can receive from it; serve the queue to which it forwards",
        ),
    ],
)
def test_what_nobody_can_receive_from_is_not_served(service_bus_world: ServiceBusWorld, served: str, said: str) -> None:
    service_bus_world.create_subscription(TOPIC, AUDIT, forward_to=AUDIT)
    with pytest.raises(ValueError, match=f"^{said}$"):
        service_bus_world.serve(served, topic_app()[0])


def test_a_topic_and_a_queue_have_names_of_their_own(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.create_queue(QUEUE)
    with pytest.raises(ValueError, match="two entities are called 'orders'"):
        service_bus_world.create_subscription(QUEUE, AUDIT)


def test_each_event_is_forwarded_once_for_each_subscription(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.create_subscription(TOPIC, QUEUE, forward_to=QUEUE)
    for body in ("a", "b"):
        service_bus_world.send(TOPIC, body)
    assert [each.data for each in service_bus_world.queue(QUEUE)] == [b"a", b"b"]
    assert len(happened(service_bus_world, "forwarded")) == 4
