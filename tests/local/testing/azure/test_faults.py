"""Check that a fault of Service Bus looks to a function as it does with the SDK."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from azure.servicebus import ServiceBusMessage
from azure.servicebus.exceptions import (
    MessagingEntityDisabledError,
    MessagingEntityNotFoundError,
    OperationTimeoutError,
    ServiceBusConnectionError,
    ServiceBusError,
    ServiceBusServerBusyError,
)

from local.testing.azure.apps import ERRORS, QUEUE, app, attempts, endpoint, happened, seconds
from recoverable_local.testing import (
    AnswerLost,
    ClockSkewed,
    ConnectionReset,
    Fault,
    Raises,
    Refused,
    ServiceBusWorld,
    Slow,
    Throttled,
    Unreachable,
)


@pytest.mark.parametrize(
    ("fault", "error", "sent"),
    [
        (Throttled(), ServiceBusServerBusyError, 0),
        (Refused("com.microsoft:entity-disabled"), MessagingEntityDisabledError, 0),
        (Refused("amqp:strange"), ServiceBusError, 0),
        (Unreachable(), ServiceBusConnectionError, 0),
        (AnswerLost(), OperationTimeoutError, 1),
        (ConnectionReset(), ServiceBusConnectionError, 0),
        (ConnectionReset(done=True), ServiceBusConnectionError, 1),
        (Raises(OSError("broken pipe")), OSError, 0),
    ],
    ids=str,
)
def test_a_call_fails_as_the_sdk_lets_it_fail(
    service_bus_world: ServiceBusWorld, fault: Fault, error: type[Exception], sent: int
) -> None:
    seen: list[type[Exception]] = []

    def function(_message: Any) -> None:
        try:
            service_bus_world.client.get_queue_sender("other").send_messages(ServiceBusMessage("y"))
        except Exception as raised:  # noqa: BLE001  # the claim is about which
            seen.append(type(raised))

    service_bus_world.create_queue("other")
    service_bus_world.fail("send_messages", fault)
    service_bus_world.serve(QUEUE, app(function))
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert (seen, len(service_bus_world.queue("other"))) == ([error], sent)


def test_while_the_error_queue_is_missing_the_message_waits_in_its_own_queue() -> None:
    world = ServiceBusWorld(create_missing=False)
    world.create_queue(QUEUE, max_delivery_count=6)
    world.serve(QUEUE, endpoint(immediate=0, delayed=0))
    world.send(QUEUE, "x")
    world.run(for_=timedelta(hours=5))
    assert (len(world.queue(QUEUE)), world.dead_letters(QUEUE)) == (1, [])
    with pytest.raises(MessagingEntityNotFoundError):
        world.send(ERRORS, "x")


def test_a_slow_call_takes_its_time(service_bus_world: ServiceBusWorld) -> None:
    began = service_bus_world.now
    service_bus_world.fail("send_messages", Slow(seconds(7)))
    service_bus_world.serve(QUEUE, endpoint(immediate=0, delayed=0))
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert service_bus_world.now - began == seconds(7)


def test_a_wrong_clock_schedules_wrongly(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.fail("attempt", ClockSkewed(seconds(3600)), nth=1)
    service_bus_world.serve(QUEUE, endpoint(immediate=0))
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert [at for at, _ in attempts(service_bus_world)] == [0, 3610]


def test_an_abandon_that_does_not_get_through_waits_for_the_lock(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.fail("settle", Unreachable(), nth=1)
    service_bus_world.serve(QUEUE, endpoint(delayed=0))
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert [at for at, _ in attempts(service_bus_world)] == [0, 60]


@pytest.mark.parametrize(
    ("options", "idle", "kept"),
    [({}, 599, True), ({}, 600, False), ({"keep_alive": 0}, 239, True), ({"keep_alive": 0}, 240, False)],
    ids=str,
)
def test_a_senders_connection_is_lost_when_it_was_idle(
    service_bus_world: ServiceBusWorld, options: dict[str, Any], idle: float, *, kept: bool
) -> None:
    sender: Any = service_bus_world.client.get_queue_sender("other", **options)
    seen: list[str] = []

    def function(message: Any) -> None:
        try:
            sender.send_messages(ServiceBusMessage(message.get_body()))
        except ServiceBusConnectionError:
            seen.append("lost")
            sender.send_messages(ServiceBusMessage("on a new one"))

    service_bus_world.create_queue("other")
    service_bus_world.serve(QUEUE, app(function))
    service_bus_world.send(QUEUE, "first")
    service_bus_world.send(QUEUE, "second", delay=idle)
    service_bus_world.run()
    assert seen == ([] if kept else ["lost"])
    assert [each.body for each in service_bus_world.queue("other")] == ["first", "second" if kept else "on a new one"]


def test_a_settlement_of_which_the_host_never_hears_is_done(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.fail("settle", AnswerLost())
    service_bus_world.serve(QUEUE, endpoint(lambda _message: None))
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert happened(service_bus_world, "completed") == [(0, "completed", "the host never heard")]


@pytest.mark.parametrize(
    ("what", "fault"), [("send_messages", "DeliveredTwice"), ("settle", "Throttled"), ("renew", "Died")]
)
def test_what_cannot_happen_there_is_refused(service_bus_world: ServiceBusWorld, what: str, fault: str) -> None:
    import recoverable_local.testing as kit

    with pytest.raises(TypeError, match=f"cannot happen before '{what}'"):
        service_bus_world.fail(what, getattr(kit, fault)())


def test_a_place_of_the_other_cloud_is_refused_by_name(service_bus_world: ServiceBusWorld) -> None:
    with pytest.raises(ValueError, match="write one of attempt, cancel_scheduled_messages, invoke, renew"):
        service_bus_world.fail("send_message_batch", Throttled())


def test_a_function_can_schedule_and_receive(service_bus_world: ServiceBusWorld) -> None:
    got: list[str] = []

    def function(_message: Any) -> None:
        with service_bus_world.client.get_queue_sender("other") as sender:
            sender.schedule_messages(ServiceBusMessage("later"), service_bus_world.now + seconds(20))
        with service_bus_world.client.get_queue_receiver("other", max_wait_time=30) as receiver:
            for message in receiver.receive_messages():
                got.append(str(message))
                receiver.complete_message(message)

    service_bus_world.serve(QUEUE, app(function))
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert (got, happened(service_bus_world, "completed")) == (["later"], [(20, "completed", "")])
