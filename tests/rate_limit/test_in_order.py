"""Where messages keep an order, in virtual time: nobody is held back, failures count, and the callbacks are called."""

from __future__ import annotations

from datetime import timedelta

import azure.functions as func

from rate_limit.outage import Database, World
from recoverable import Delayed, Failed, Immediate, RateLimit, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import SqsWorld

FAILURES = 3
AWAY = timedelta(minutes=1)


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


def test_nobody_waits_because_the_rate_is_limited(world: World) -> None:
    unlimited = in_order(type(world)(), None)
    limited = in_order(world, RateLimit(FAILURES))

    assert limited.failed == unlimited.failed
    assert limited.placed == unlimited.placed


def test_the_callbacks_are_called_once_for_each_switch(world: World) -> None:
    calls: list[str] = []
    limit = RateLimit(FAILURES, on_started=lambda: calls.append("started"), on_ended=lambda: calls.append("ended"))
    in_order(world, limit)

    assert calls == ["started", "ended"]


def test_failures_that_are_too_few_call_nobody(world: World) -> None:
    calls: list[str] = []
    in_order(world, RateLimit(1_000, on_started=lambda: calls.append("started")))

    assert calls == []
