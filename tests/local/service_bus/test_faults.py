"""Test the injection of faults, and the SDK's errors for them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from azure.servicebus import ServiceBusMessage
from azure.servicebus.exceptions import (
    MessageLockLostError,
    OperationTimeoutError,
    ServiceBusAuthenticationError,
    ServiceBusConnectionError,
    ServiceBusError,
    ServiceBusServerBusyError,
)

from deadlines import eventually
from local.service_bus.bus import PATIENCE, Bus, bodies, client_of
from recoverable_local.service_bus import Depth, DropConnection, LoseAnswer, Operation, Refuse

pytestmark = pytest.mark.slow  # the SDK takes a second to open and close its links


def test_a_refused_send_is_not_done_and_the_next_one_is(bus: Bus) -> None:
    bus.namespace.fail(Operation.SEND)

    with pytest.raises(ServiceBusServerBusyError):
        bus.send("first")
    bus.send("second")

    assert bodies(bus.namespace.queue("orders").messages()) == ["second"]


def test_a_send_whose_answer_is_lost_is_done(bus: Bus) -> None:
    bus.send("first")  # so that the link is open
    bus.namespace.fail(Operation.SEND, LoseAnswer())

    with pytest.raises(OperationTimeoutError):
        bus.sender().send_messages(ServiceBusMessage("second"), timeout=1)

    eventually(lambda: bodies(bus.namespace.queue("orders").messages()) == ["first", "second"], "both are there")


@pytest.mark.parametrize(("done", "left"), [(False, []), (True, ["hello"])])
def test_a_connection_can_drop_before_a_send_is_done_or_after(dropping: Bus, *, done: bool, left: list[str]) -> None:
    dropping.namespace.fail(Operation.SEND, DropConnection(done=done))

    with pytest.raises(ServiceBusConnectionError):
        dropping.send("hello")

    assert bodies(dropping.namespace.queue("orders").messages()) == left


def test_the_sdks_retries_get_over_a_dropped_connection(dropping: Bus) -> None:
    dropping.namespace.fail(Operation.SEND, DropConnection())

    with client_of(dropping.namespace, retries=3) as client, client.get_queue_sender("orders") as sender:
        sender.send_messages(ServiceBusMessage("hello"))

    assert bodies(dropping.namespace.queue("orders").messages()) == ["hello"]


def test_a_refused_completion_leaves_the_message_locked(bus: Bus) -> None:
    bus.send("hello")
    message = bus.receive()
    bus.namespace.fail(Operation.COMPLETE, Refuse("com.microsoft:message-lock-lost", "gone"))

    with pytest.raises(MessageLockLostError, match="gone"):
        bus.receiver().complete_message(message)

    assert bus.namespace.queue("orders").depth() == Depth(locked=1)


def test_a_delivery_whose_answer_is_lost_leaves_the_message_locked(bus: Bus) -> None:
    bus.send("hello")
    bus.namespace.fail(Operation.DELIVER, LoseAnswer())

    assert bus.nothing_comes()
    eventually(lambda: bus.namespace.queue("orders").depth() == Depth(locked=1), "it is locked")

    bus.namespace.advance(timedelta(minutes=1))
    assert bus.receive().delivery_count == 1


def test_a_refused_delivery_ends_the_link_and_the_message_comes_again_uncounted(bus: Bus) -> None:
    bus.send("hello")
    bus.namespace.fail(Operation.DELIVER, Refuse(description="too many requests"))

    with (
        pytest.raises(ServiceBusServerBusyError, match="too many requests"),
        bus.receiver(prefetch_count=0) as receiver,
    ):
        receiver.receive_messages(1, max_wait_time=PATIENCE)

    assert bus.receive().delivery_count == 0


def test_a_connection_can_drop_with_a_delivery_which_leaves_the_message_locked(dropping: Bus) -> None:
    dropping.send("hello")
    dropping.namespace.fail(Operation.DELIVER, DropConnection())

    with client_of(dropping.namespace, retries=3) as client, client.get_queue_receiver("orders") as receiver:
        assert receiver.receive_messages(1, max_wait_time=2) == []
        eventually(lambda: dropping.namespace.queue("orders").depth() == Depth(locked=1), "it is locked")
        dropping.namespace.advance(timedelta(minutes=1))
        (message,) = receiver.receive_messages(1, max_wait_time=PATIENCE)

    assert message.delivery_count == 1


def test_operations_of_the_management_node_can_fail(bus: Bus) -> None:
    bus.namespace.fail(Operation.SCHEDULE)

    with pytest.raises(ServiceBusServerBusyError):
        bus.sender().schedule_messages(ServiceBusMessage("later"), datetime.now(UTC) + timedelta(hours=1))

    assert bus.namespace.queue("orders").depth() == Depth()


def test_credentials_can_be_refused(bus: Bus) -> None:
    bus.namespace.fail(Operation.AUTHENTICATE, Refuse("amqp:unauthorized-access", "no such key"))

    with pytest.raises(ServiceBusAuthenticationError):
        bus.send("hello")


def test_a_link_can_be_refused(bus: Bus) -> None:
    bus.namespace.fail(Operation.ATTACH, Refuse("com.microsoft:entity-disabled", "closed for today"))

    with pytest.raises(ServiceBusError, match="closed for today"):
        bus.send("hello")


def test_a_fault_can_be_for_one_entity_for_some_times_and_be_healed(bus: Bus) -> None:
    bus.namespace.fail(Operation.SEND, path="other")
    bus.send("first")
    bus.namespace.fail(Operation.SEND, path="ORDERS", times=None)
    for _ in range(3):
        with pytest.raises(ServiceBusServerBusyError):
            bus.send("refused")

    bus.namespace.heal()
    bus.send("second")

    assert bodies(bus.namespace.queue("orders").messages()) == ["first", "second"]
