"""Check that sessions keep their order, and that batches are settled whole."""

from __future__ import annotations

from typing import Any

import pytest

from local.testing.azure.apps import ERRORS, QUEUE, app, attempts, endpoint, happened
from recoverable import Message
from recoverable_local.testing import ConnectionCut, InstanceLost, LockLost, ServiceBusWorld


def test_a_session_is_handled_in_its_order_and_sessions_side_by_side(service_bus_world: ServiceBusWorld) -> None:
    order: list[str] = []

    def function(message: Any) -> None:
        service_bus_world.spend(10)
        order.append(message.get_body().decode())

    service_bus_world.serve(QUEUE, app(function, is_sessions_enabled=True))
    for body, session in (("a1", "a"), ("a2", "a"), ("b1", "b"), ("a3", "a")):
        service_bus_world.send(QUEUE, body, group_id=session)
    service_bus_world.run()
    assert order == ["a1", "b1", "a2", "a3"]


@pytest.mark.parametrize(
    ("fault", "deliveries"),
    [(InstanceLost(), [(0, "1"), (60, "2"), (120, "3")]), (ConnectionCut(), [(0, "1"), (0, "1"), (0, "1")])],
    ids=["its lock runs out, which counts", "its connection is cut, which frees it and counts nothing"],
)
def test_a_session_whose_host_is_gone(
    service_bus_world: ServiceBusWorld, fault: InstanceLost | ConnectionCut, deliveries: list[tuple[int, str]]
) -> None:
    for nth in (1, 2):
        service_bus_world.fail("attempt", fault, nth=nth)
    service_bus_world.serve(QUEUE, endpoint(lambda _message: None, sessions=True))
    service_bus_world.send(QUEUE, "x", group_id="a")
    service_bus_world.run()
    assert [(at, text.split()[1]) for at, _, text in happened(service_bus_world, "received")] == deliveries


def test_a_message_that_takes_its_host_along_runs_until_its_time_to_live_ends(
    service_bus_world: ServiceBusWorld,
) -> None:
    """Nothing counts its deliveries: without a time to live it would run for ever, and its session would stand still."""

    def handle(message: Message) -> None:
        service_bus_world.spend(60)
        message.send("other", "x")

    service_bus_world.fail("send_messages", ConnectionCut())
    service_bus_world.create_queue(
        QUEUE, sessions=True, time_to_live=600, dead_letter_expired=True, dead_letter_queue=ERRORS
    )
    service_bus_world.serve(QUEUE, endpoint(handle, sessions=True))
    service_bus_world.send(QUEUE, "x", group_id="a")
    service_bus_world.run()
    received = [text.split()[1] for _, _, text in happened(service_bus_world, "received")]
    assert (received, happened(service_bus_world, "dead-lettered")) == (
        ["1"] * 10,
        [(600, "dead-lettered", "TTLExpiredException")],
    )


def test_an_immediate_retry_keeps_the_order_of_its_session(service_bus_world: ServiceBusWorld) -> None:
    order: list[tuple[str, int]] = []

    def handle(message: Message) -> None:
        order.append((message.text, message.attempt))
        if message.text == "a1" and message.attempt < 3:
            raise ValueError("not yet")

    service_bus_world.serve(QUEUE, endpoint(handle, immediate=2, sessions=True))
    for body in ("a1", "a2"):
        service_bus_world.send(QUEUE, body, group_id="a")
    service_bus_world.run()
    assert order == [("a1", 1), ("a1", 2), ("a1", 3), ("a2", 1)]


def test_a_delayed_retry_comes_in_its_session_behind_the_others(service_bus_world: ServiceBusWorld) -> None:
    order: list[tuple[str, int, str | None]] = []

    def handle(message: Message) -> None:
        order.append((message.text, message.round, message.group_id))
        if message.text == "a1" and not message.round:
            raise ValueError("not yet")

    service_bus_world.serve(QUEUE, endpoint(handle, immediate=0, sessions=True))
    for body in ("a1", "a2"):
        service_bus_world.send(QUEUE, body, group_id="a")
    service_bus_world.run()
    assert order == [("a1", 0, "a"), ("a2", 0, "a"), ("a1", 1, "a")]


def test_more_sessions_than_the_host_takes_wait_for_their_turn(service_bus_world: ServiceBusWorld) -> None:
    began, handled = service_bus_world.now, list[float]()

    def function(_message: Any) -> None:
        service_bus_world.spend(10)
        handled.append((service_bus_world.now - began).total_seconds())

    service_bus_world.serve(QUEUE, app(function, is_sessions_enabled=True), concurrency=2)
    for session in "abcde":
        service_bus_world.send(QUEUE, session, group_id=session)
    service_bus_world.run()
    assert handled == [10, 10, 20, 20, 30]


def test_a_session_is_renewed_while_its_function_runs(service_bus_world: ServiceBusWorld) -> None:
    slow = app(lambda _message: service_bus_world.spend(300), is_sessions_enabled=True)
    service_bus_world.serve(QUEUE, slow, instances=2)
    service_bus_world.send(QUEUE, "x", group_id="a")
    service_bus_world.run()
    assert len(happened(service_bus_world, "received")) == 1


def test_a_session_that_gets_lost_goes_to_another(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.fail("attempt", LockLost(), nth=1)
    service_bus_world.serve(QUEUE, endpoint(lambda _message: None, sessions=True), instances=2)
    service_bus_world.send(QUEUE, "x", group_id="a")
    service_bus_world.run()
    assert attempts(service_bus_world) == [(0, "succeeded")] * 2
    assert service_bus_world.queue(QUEUE) == []


def test_a_session_whose_renewal_ends_is_lost(service_bus_world: ServiceBusWorld) -> None:
    times = iter([500.0])
    slow = app(lambda _message: service_bus_world.spend(next(times, 1)), is_sessions_enabled=True)
    service_bus_world.serve(QUEUE, slow, instances=2, lock_renewal=100)
    service_bus_world.send(QUEUE, "x", group_id="a")
    service_bus_world.run()
    assert [(at, detail) for at, _, detail in happened(service_bus_world, "received")] == [
        (0, "delivery 1 of number 1"),
        (160, "delivery 2 of number 1"),
    ]
    assert service_bus_world.queue(QUEUE) == []


def test_a_message_without_a_session_is_refused(service_bus_world: ServiceBusWorld) -> None:
    from azure.servicebus.exceptions import ServiceBusError

    service_bus_world.create_queue(QUEUE, sessions=True)
    with pytest.raises(ServiceBusError, match="SessionId was not set"):
        service_bus_world.send(QUEUE, "x")


@pytest.mark.parametrize("sessions", [True, False])
def test_a_trigger_that_differs_from_its_queue_about_sessions_is_refused(
    service_bus_world: ServiceBusWorld, *, sessions: bool
) -> None:
    service_bus_world.create_queue(QUEUE, sessions=not sessions)
    with pytest.raises(ValueError, match="differ about sessions"):
        service_bus_world.serve(QUEUE, endpoint(sessions=sessions))


def test_a_batch_gets_what_is_there_up_to_its_size(service_bus_world: ServiceBusWorld) -> None:
    sizes: list[int] = []
    counting = app(lambda messages: sizes.append(len(messages)), cardinality="many")
    for body in "abcde":
        service_bus_world.send(QUEUE, body)
    service_bus_world.serve(QUEUE, counting, batch_size=3)
    service_bus_world.run()
    assert sizes == [3, 2]


def test_a_batch_that_fails_comes_back_whole(service_bus_world: ServiceBusWorld) -> None:
    seen: list[list[tuple[str, int]]] = []

    def function(messages: Any) -> None:
        seen.append([(m.get_body().decode(), m.delivery_count) for m in messages])
        if len(seen) == 1:
            raise ValueError

    for body in "ab":
        service_bus_world.send(QUEUE, body)
    service_bus_world.serve(QUEUE, app(function, cardinality="many"))
    service_bus_world.run()
    assert seen == [[("a", 1), ("b", 1)], [("a", 2), ("b", 2)]]


def test_the_failures_of_a_batch_climb_by_copies(service_bus_world: ServiceBusWorld) -> None:
    def handle(message: Message) -> None:
        if message.text == "bad":
            raise ValueError("no")

    for body in ("bad", "good"):
        service_bus_world.send(QUEUE, body)
    service_bus_world.serve(QUEUE, endpoint(handle, batch=True))
    service_bus_world.run()
    assert [detail for _, detail in attempts(service_bus_world)].count("succeeded") == 1
    assert [at for at, detail in attempts(service_bus_world) if detail != "succeeded"] == [0, 0, 10, 10]
    assert [m.body for m in service_bus_world.queue(ERRORS)] == ["bad"]


def test_a_session_comes_in_batches(service_bus_world: ServiceBusWorld) -> None:
    batches: list[list[str]] = []

    def function(messages: Any) -> None:
        batches.append([m.get_body().decode() for m in messages])

    service_bus_world.serve(QUEUE, app(function, cardinality="many", is_sessions_enabled=True))
    for body, session in (("a1", "a"), ("b1", "b"), ("a2", "a")):
        service_bus_world.send(QUEUE, body, group_id=session)
    service_bus_world.run()
    assert batches == [["a1", "a2"], ["b1"]]
