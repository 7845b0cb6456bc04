"""Where messages keep an order, in virtual time: on a FIFO queue they wait in their place, failures count, and the callbacks are called."""

from __future__ import annotations

from datetime import timedelta

import azure.functions as func
import pytest

from rate_limit.outage import Database, World
from recoverable import Delayed, Failed, Immediate, Message, RateLimit, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import ServiceBusWorld, SqsWorld

FAILURES = 3
AWAY = timedelta(minutes=1)
HOUR = 3_600


def ladder(limit: RateLimit | None, error: str) -> Recoverability:
    """Return a ladder that is longer than the outage on SQS FIFO, where retries are redeliveries."""
    return Recoverability(Immediate(1), Delayed(10, timedelta(seconds=10)), Failed(error), rate_limit=limit)


def in_order(world: World, limit: RateLimit | None) -> Database:
    """Let an outage happen to three orders of one group or session, and return its end."""
    database = Database(world, AWAY)
    if isinstance(world, SqsWorld):
        world.create_queue("orders.fifo", dead_letter_queue="error.fifo", max_receive_count=100)
        world.serve("orders.fifo", SqsEndpoint(database, ladder(limit, "error.fifo")), batch_size=1)
        sent = [world.send("orders.fifo", "a card", group_id="g", deduplication_id=str(n)) for n in range(3)]
    else:
        world.create_queue("orders", sessions=True, dead_letter_queue="error")
        app, endpoint = (
            func.FunctionApp(),
            ServiceBusEndpoint(
                database, ladder(limit, "error"), queue="orders", connection="ServiceBus", sessions=True, name="orders"
            ),
        )
        app.register_functions(endpoint.blueprint())
        world.serve("orders", app)
        sent = [world.send("orders", "a card", group_id="g") for _ in range(3)]
    world.run()
    assert sorted(database.placed) == sorted(sent)
    return database


def test_nobody_waits_in_a_session_because_the_rate_is_limited() -> None:
    unlimited, limited = in_order(ServiceBusWorld(), None), in_order(ServiceBusWorld(), RateLimit(FAILURES))

    assert limited.failed == unlimited.failed
    assert limited.placed == unlimited.placed


def test_a_message_of_a_fifo_queue_waits_in_its_place_longer_each_time() -> None:
    limited = in_order(SqsWorld(), RateLimit(FAILURES, wait=timedelta(seconds=1)))

    start = limited.failed[0]
    assert [(at - start).total_seconds() for at in limited.failed] == [0, 0, 10, 20, 40]


def outage_of(hours: float, concurrency: int) -> tuple[SqsWorld, list[float], list[float]]:
    """Return the world after an outage that 60 orders of 60 groups met, and the seconds of the attempts in it and of the successes after it."""
    world = SqsWorld(seed=1)
    start, failed, placed = world.now, list[float](), list[float]()

    def place(_: Message) -> None:
        at = (world.now - start).total_seconds()
        if at < hours * HOUR:
            failed.append(at)
            raise ConnectionError("no answer")
        placed.append(at)

    limit = RateLimit(10, timedelta(seconds=1))
    endpoint = SqsEndpoint(place, Recoverability(failed=Failed("error.fifo"), rate_limit=limit))
    world.serve("orders.fifo", endpoint, batch_size=1, concurrency=concurrency, timeout=60)
    for number in range(60):
        world.send("orders.fifo", "a card", group_id=f"g{number}", deduplication_id=str(number))
    world.run()
    return world, failed, placed


@pytest.mark.parametrize("concurrency", [1, 10])
def test_an_outage_of_an_hour_leaves_no_message_of_a_fifo_queue_in_the_error_queue(concurrency: int) -> None:
    world, failed, placed = outage_of(1, concurrency)

    assert (world.queue("error.fifo"), len(placed)) == ([], 60)
    assert len(failed) / HOUR <= 2
    assert max(placed) - HOUR <= 15 * 60


def test_the_callbacks_are_called_once_for_each_switch(world: World) -> None:
    calls: list[str] = []
    limit = RateLimit(FAILURES, on_started=lambda: calls.append("started"), on_ended=lambda: calls.append("ended"))
    in_order(world, limit)

    assert calls == ["started", "ended"]


def test_failures_that_are_too_few_call_nobody(world: World) -> None:
    calls: list[str] = []
    in_order(world, RateLimit(1_000, on_started=lambda: calls.append("started")))

    assert calls == []
