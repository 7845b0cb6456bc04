"""Check that processes and machines of a function app work side by side, time out and die."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from local.testing.azure.apps import ERRORS, QUEUE, app, attempts, endpoint, happened, seconds
from recoverable import Failed, Message, RateLimit, Recoverability
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import ConnectionCut, Died, InstanceLost, ServiceBusWorld, TimedOut


def test_messages_are_handled_side_by_side(service_bus_world: ServiceBusWorld) -> None:
    order: list[tuple[str, int]] = []
    began = service_bus_world.now

    def function(message: Any) -> None:
        service_bus_world.spend(float(message.get_body()))
        order.append((message.get_body().decode(), int((service_bus_world.now - began).total_seconds())))

    service_bus_world.serve(QUEUE, app(function))
    for body in ("5", "1", "3"):
        service_bus_world.send(QUEUE, body)
    service_bus_world.run()
    assert order == [("1", 1), ("3", 3), ("5", 5)]


@pytest.mark.parametrize(("instances", "concurrency", "takes"), [(1, 2, 30), (3, 1, 20), (1, 16, 10)])
def test_no_more_run_than_instances_and_host_allow(
    service_bus_world: ServiceBusWorld, instances: int, concurrency: int, takes: int
) -> None:
    began = service_bus_world.now
    slow = app(lambda _message: service_bus_world.spend(10))
    service_bus_world.serve(QUEUE, slow, instances=instances, concurrency=concurrency)
    for _ in range(6):
        service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert service_bus_world.now - began == seconds(takes)


def test_a_worker_that_dies_takes_what_runs_beside_it_along_and_all_is_abandoned(
    service_bus_world: ServiceBusWorld,
) -> None:
    def handle(message: Message) -> None:
        if message.text == "kills":
            service_bus_world.spend(5)
            service_bus_world.kill()
        service_bus_world.spend(10 if message.attempt == 1 else 1)

    service_bus_world.serve(QUEUE, endpoint(handle, immediate=1, delayed=0))
    killer, _ = service_bus_world.send(QUEUE, "kills"), service_bus_world.send(QUEUE, "good")
    service_bus_world.run()
    assert happened(service_bus_world, "abandoned")[:2] == [(5, "abandoned", ""), (5, "abandoned", "")]
    assert [(m.id, m.exception_type) for m in service_bus_world.queue(ERRORS)] == [
        (killer, "recoverable.UnreportedFailure")
    ]
    assert (6, "succeeded") in attempts(service_bus_world)


@pytest.mark.parametrize(
    ("fault", "how"), [(InstanceLost(), "its machine was lost"), (ConnectionCut(), "its host ended too")]
)
def test_a_machine_that_is_lost_leaves_its_messages_to_their_locks(
    service_bus_world: ServiceBusWorld, fault: InstanceLost | ConnectionCut, how: str
) -> None:
    service_bus_world.fail("attempt", fault, nth=1)
    service_bus_world.serve(QUEUE, endpoint(lambda _message: None))
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert attempts(service_bus_world) == [(0, f"ProcessEnded: {how}"), (60, "succeeded")]


def test_what_a_dead_process_still_does_reaches_nobody(service_bus_world: ServiceBusWorld) -> None:
    def handle(message: Message) -> None:
        try:
            service_bus_world.kill()
        except BaseException:  # noqa: BLE001  # what clings to life
            raise ValueError("no") from None

    service_bus_world.serve(QUEUE, endpoint(handle, immediate=0, delayed=0))
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run(for_=0)
    assert [what for _, what, _ in happened(service_bus_world)].count("sent") == 2
    assert [m.exception_type for m in service_bus_world.queue(ERRORS)] == ["recoverable.UnreportedFailure"]


def test_a_function_that_takes_too_long_is_stopped_with_its_process(service_bus_world: ServiceBusWorld) -> None:
    took: list[timedelta] = []

    def handle(_message: Message) -> None:
        began = service_bus_world.now
        try:
            service_bus_world.spend(1000)
        finally:
            took.append(service_bus_world.now - began)

    service_bus_world.serve(QUEUE, endpoint(handle, immediate=0, delayed=0), timeout=300)
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert took == [timedelta(seconds=300)] * 3
    assert [m.exception_type for m in service_bus_world.queue(ERRORS)] == ["recoverable.UnreportedFailure"]


@pytest.mark.parametrize("fault", [Died(), TimedOut()])
def test_a_process_that_ends_anywhere_costs_one_run(service_bus_world: ServiceBusWorld, fault: Died | TimedOut) -> None:
    service_bus_world.fail("send_messages", fault, nth=1)
    service_bus_world.serve(QUEUE, endpoint(immediate=0, delayed=0))
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert (len(attempts(service_bus_world)), len(service_bus_world.queue(ERRORS))) == (2, 1)


def test_a_handler_that_exits_ends_its_process(service_bus_world: ServiceBusWorld) -> None:
    def handle(_message: Message) -> None:
        raise SystemExit(3)

    service_bus_world.serve(QUEUE, endpoint(handle, immediate=0, delayed=0))
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert happened(service_bus_world, "invocation failed")[0][2] == "exited with 3"


def test_coroutines_run_side_by_side(service_bus_world: ServiceBusWorld) -> None:
    import asyncio

    async def handle(message: Message) -> None:
        await asyncio.sleep(float(message.text))

    began = service_bus_world.now
    service_bus_world.serve(QUEUE, endpoint(handle))
    for body in ("5", "1", "3"):
        service_bus_world.send(QUEUE, body)
    service_bus_world.run()
    assert (attempts(service_bus_world), service_bus_world.now - began) == (
        [(1, "succeeded"), (3, "succeeded"), (5, "succeeded")],
        seconds(5),
    )


def test_two_that_send_at_once_take_turns(service_bus_world: ServiceBusWorld) -> None:
    from recoverable_local.testing import Slow

    service_bus_world.fail("send_messages", Slow(seconds(5)))
    service_bus_world.serve(QUEUE, endpoint(immediate=0, delayed=0))
    for body in ("a", "b", "c"):
        service_bus_world.send(QUEUE, body)
    service_bus_world.run()
    sent = [at for at, _, _ in happened(service_bus_world, "sent")]
    assert sent == [0, 0, 0, 5, 10, 15]


def test_what_ran_beside_a_function_that_took_too_long_is_held_until_its_own_time_out(
    service_bus_world: ServiceBusWorld,
) -> None:
    """The host forgets what else ran in a worker that it kills for a time-out, and keeps its lock."""
    slow = app(lambda message: service_bus_world.spend(600 if message.delivery_count == 1 else 1))
    service_bus_world.serve(QUEUE, slow, timeout=100)
    service_bus_world.send(QUEUE, "a")
    service_bus_world.send(QUEUE, "b", delay=40)
    service_bus_world.run()
    abandoned = [at for at, _, _ in happened(service_bus_world, "abandoned")]
    assert (abandoned, service_bus_world.queue(QUEUE)) == ([100, 140], [])


def test_what_is_delivered_to_a_process_that_ended_with_status_0_is_lost_to_it(
    service_bus_world: ServiceBusWorld,
) -> None:
    def function(message: Any) -> None:
        handled.append((message.get_body().decode(), message.delivery_count))
        if message.delivery_count == 1:
            raise SystemExit

    handled: list[tuple[str, int]] = []
    service_bus_world.serve(QUEUE, app(function), timeout=100)
    service_bus_world.send(QUEUE, "a")
    service_bus_world.send(QUEUE, "b", delay=40)
    service_bus_world.run()
    abandoned = [at for at, _, _ in happened(service_bus_world, "abandoned")]
    assert (abandoned, handled) == ([100, 140], [("a", 1), ("a", 2), ("b", 2)])


def test_the_invocations_of_one_process_share_its_circuit(
    service_bus_world: ServiceBusWorld, caplog: pytest.LogCaptureFixture
) -> None:
    def fail_in_a_second(_message: Message) -> None:
        service_bus_world.spend(1)
        raise OSError("down")

    limited = Recoverability(
        failed=Failed(ERRORS), rate_limit=RateLimit(consecutive_failures=4, wait=timedelta(seconds=1))
    )
    service_bus_world.serve(QUEUE, ServiceBusEndpoint(fail_in_a_second, limited, queue=QUEUE, connection="ServiceBus"))
    for _ in range(16):
        service_bus_world.send(QUEUE, "x")

    service_bus_world.run(for_=60)

    assert [line for line in caplog.messages if "now in the armed state" in line] == [
        "The circuit breaker is now in the armed state: 4 attempts in a row failed. One message is attempted every 0:00:01, the others wait."
    ]
