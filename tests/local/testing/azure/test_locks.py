"""Check that locks are renewed, run out and get lost, and that their messages come back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from local.testing.azure.apps import QUEUE, app, attempts, endpoint, happened
from recoverable import Message
from recoverable_local.testing import LockLost, ServiceBusWorld, Unreachable


def spends(world: ServiceBusWorld, *seconds: float) -> Any:
    """Return a function whose runs take so long; the last duration repeats."""
    runs = iter(seconds)
    last = seconds[-1]

    def function(_message: Any) -> None:
        world.spend(next(runs, last))

    return function


def test_a_lock_is_renewed_while_the_function_runs(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.serve(QUEUE, app(spends(service_bus_world, 500)))
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert happened(service_bus_world, "received", "completed") == [
        (0, "received", "delivery 1 of number 1"),
        (500, "completed", ""),
    ]


def test_a_lock_that_is_renewed_no_more_runs_out_and_the_message_comes_back(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.serve(QUEUE, app(spends(service_bus_world, 500, 1)), lock_renewal=100)
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert happened(service_bus_world, "received", "completed", "call failed") == [
        (0, "received", "delivery 1 of number 1"),
        (160, "received", "delivery 2 of number 1"),
        (161, "completed", ""),
        (
            500,
            "call failed",
            "complete: The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue.",
        ),
    ]


def test_the_locks_of_a_batch_are_not_renewed(service_bus_world: ServiceBusWorld) -> None:
    many = app(spends(service_bus_world, 70, 1), cardinality="many")
    service_bus_world.serve(QUEUE, many, instances=2)
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert [at for at, _, _ in happened(service_bus_world, "received")] == [0, 60]


def test_a_renewal_that_fails_is_tried_again_before_the_lock_runs_out(service_bus_world: ServiceBusWorld) -> None:
    outage = service_bus_world.fail("renew", Unreachable(), nth=1)
    service_bus_world.serve(QUEUE, app(spends(service_bus_world, 100)))
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert (outage.hits, len(happened(service_bus_world, "received"))) == (1, 1)


@pytest.mark.parametrize("what", ["invoke", "attempt", "settle"])
def test_a_lock_that_gets_lost_gives_the_message_to_another(service_bus_world: ServiceBusWorld, what: str) -> None:
    service_bus_world.fail(what, LockLost(), nth=1)
    service_bus_world.serve(QUEUE, endpoint(lambda _message: None))
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert attempts(service_bus_world) == [(0, "succeeded")] * 2
    assert [detail for _, _, detail in happened(service_bus_world, "received")] == [
        "delivery 1 of number 1",
        "delivery 2 of number 1",
    ]


def test_a_message_that_cannot_be_completed_comes_back_when_its_lock_has_run_out(
    service_bus_world: ServiceBusWorld,
) -> None:
    service_bus_world.fail("settle", Unreachable(), nth=1)
    service_bus_world.serve(QUEUE, endpoint(lambda _message: None))
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert attempts(service_bus_world) == [(0, "succeeded"), (60, "succeeded")]


def test_a_lock_that_nobody_waits_for_takes_no_time(service_bus_world: ServiceBusWorld) -> None:
    began = service_bus_world.now
    service_bus_world.serve(QUEUE, endpoint(lambda _message: None))
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert service_bus_world.now == began


def test_what_the_host_does_not_complete_comes_back(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.create_queue(QUEUE, max_delivery_count=3)
    service_bus_world.serve(QUEUE, app(lambda _message: None, auto_complete_messages=False))
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert [at for at, _, _ in happened(service_bus_world, "received")] == [0, 60, 120]
    assert len(service_bus_world.dead_letters(QUEUE)) == 1


def test_a_lock_lost_while_copies_are_sent_leaves_one_ladder_more(service_bus_world: ServiceBusWorld) -> None:
    def fail(_message: Message) -> None:
        raise ValueError("no")

    service_bus_world.fail("send_messages", LockLost(), nth=1)
    service_bus_world.serve(QUEUE, endpoint(fail, immediate=0))
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert [at for at, _ in attempts(service_bus_world)] == [0, 0, 10, 10]
    assert len(service_bus_world.queue("orders-error")) == 2


def test_time_to_live_ends_a_message_that_waits(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.create_queue(QUEUE, time_to_live=30, dead_letter_expired=True, dead_letter_queue="dead")
    service_bus_world.create_queue("other")
    service_bus_world.send(QUEUE, "a")
    service_bus_world.send(QUEUE, "b", time_to_live=timedelta(seconds=10))
    service_bus_world.send("other", "c", time_to_live=timedelta(seconds=10))
    service_bus_world.run(for_=15)
    assert [m.body for name in (QUEUE, "other", "dead") for m in service_bus_world.queue(name)] == ["a", "b"]
    service_bus_world.run(for_=16)
    assert [m.body for m in service_bus_world.queue("dead")] == ["a"]
