"""Test which names Service Bus gives to queues, topics and subscriptions."""

from __future__ import annotations

import pytest
from azure.servicebus import ServiceBusClient, ServiceBusMessage

from recoverable_local.service_bus import Queue, ServiceBusNamespace, Subscription, Topic


@pytest.mark.parametrize("name", ["orders", "Orders-2", "sales/orders", "a.b/c_d/e-f", "2nd"])
def test_a_name_is_of_segments(name: str) -> None:
    assert (Queue(name).name, Topic(name).name) == (name, name)


@pytest.mark.parametrize(
    "name", ["", "/orders", "orders/", "a//b", "or ders", "orders?", "-orders", "a/Subscriptions/b"]
)
def test_a_name_that_service_bus_refuses_is_refused(name: str) -> None:
    said = (
        f"name is {name!r}; write letters, digits, dots, hyphens and underscores, such as 'sales/orders', at most 260"
    )
    for kind in (Queue, Topic):
        with pytest.raises(ValueError, match="name is") as refused:
            kind(name)
        assert str(refused.value) == f"the {kind.__name__.lower()}'s {said}"


def test_a_subscriptions_name_has_no_slash() -> None:
    with pytest.raises(ValueError, match="the subscription's name is 'a/b'; write one without slashes"):
        Subscription("a/b")


@pytest.mark.slow
@pytest.mark.xdist_group("service_bus")
def test_a_queue_with_a_slash_works_over_amqp() -> None:
    queues = [Queue("sales/orders", forward_dead_lettered_messages_to="sales/error"), Queue("sales/error")]
    with (
        ServiceBusNamespace(queues) as namespace,
        ServiceBusClient.from_connection_string(namespace.connection_string) as client,
        client.get_queue_sender("sales/orders", keep_alive=0) as sender,
        client.get_queue_receiver("sales/orders", keep_alive=0) as receiver,
    ):
        sender.send_messages(ServiceBusMessage("order 42"))
        [message] = receiver.receive_messages(1, max_wait_time=5)
        receiver.renew_message_lock(message)
        receiver.dead_letter_message(message, reason="lost")
        [dead] = namespace.queue("sales/error").messages()

    assert (dead.body, dead.application_properties["DeadLetterReason"]) == (b"order 42", "lost")
