"""Where messages keep an order, in virtual time: they wait in their place, and the callbacks are called."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Literal

import azure.functions as func
import pytest

from rate_limit.outage import Database, World
from recoverable import Delayed, Failed, Immediate, Message, RateLimit, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from recoverable.headers import HELD_SINCE
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


Sessions = Literal[True, "ordered"]
UNORDERED: Sessions = True
every_kind_of_session = pytest.mark.parametrize("sessions", [True, "ordered"])


def sessions_in_outage(
    sessions: Sessions, hours: float, *, groups: int = 60, per_group: int = 1, instances: int = 1, **host: Any
) -> tuple[ServiceBusWorld, list[float], list[tuple[float, Message]]]:
    """Return the world after an outage that the orders of so many sessions met, the seconds of the attempts in it, and what was placed when."""
    world = ServiceBusWorld()
    start, failed, placed = world.now, list[float](), list[tuple[float, Message]]()

    def place(message: Message) -> None:
        at = (world.now - start).total_seconds()
        if at < hours * HOUR:
            failed.append(at)
            raise ConnectionError("no answer")
        placed.append((at, message))

    settings = Recoverability(failed=Failed("error"), rate_limit=RateLimit(10, timedelta(seconds=1)))
    endpoint = ServiceBusEndpoint(place, settings, queue="orders", connection="ServiceBus", sessions=sessions)
    world.serve("orders", endpoint, instances=instances, **{"timeout": 300, "concurrency": 8, **host})
    for number in range(per_group):
        for group in range(groups):
            world.send("orders", f"{number}", group_id=f"g{group}")
    world.run()
    return world, failed, placed


@pytest.mark.parametrize(
    ("sessions", "timeout", "instances", "concurrency", "groups"),
    [
        (True, 300, 1, 8, 60), (True, 60, 1, 1, 12), ("ordered", 300, 1, 1, 60), ("ordered", 300, 1, 8, 60),
        (True, 300, 8, 8, 12), ("ordered", 300, 8, 8, 12),
    ],
)  # fmt: skip
def test_an_outage_of_an_hour_leaves_no_message_of_a_session_in_the_error_queue(
    sessions: Sessions, timeout: int, instances: int, concurrency: int, groups: int
) -> None:
    world, failed, placed = sessions_in_outage(
        sessions, 1, groups=groups, timeout=timeout, instances=instances, concurrency=concurrency
    )

    assert (world.queue("error"), len(placed)) == ([], groups)
    assert len(failed) / HOUR <= 2
    assert max(at for at, _ in placed) - HOUR <= 15 * 60


@every_kind_of_session
def test_messages_of_a_session_that_wait_keep_their_order_and_their_attempts(sessions: Sessions) -> None:
    _, _, placed = sessions_in_outage(sessions, 0.05, groups=2, per_group=3)

    by_group = {group: [message.text for _, message in placed if message.group_id == group] for group in ("g0", "g1")}
    assert by_group == {"g0": ["0", "1", "2"], "g1": ["0", "1", "2"]}
    assert [message.text for _, message in placed if HELD_SINCE in message.headers] == []  # nobody waits by a copy
    heads = [(message.round, message.attempt) for _, message in placed if message.text == "0"]
    assert sorted(heads) == [(0, 5), (0, 6)]  # ten failures together open the circuit


def test_a_message_that_has_waited_for_the_whole_invocation_comes_back_by_a_copy_with_its_attempts() -> None:
    _, failed, placed = sessions_in_outage(UNORDERED, 0.25, groups=1)

    ((_, message),) = placed
    assert (message.round, message.attempt, len(failed) > 10 + 4) == (
        1,
        4,
        True,
    )  # ten failures, the tenth of which counts as none


def test_the_time_out_of_the_world_says_for_how_long_a_message_may_wait() -> None:
    world, _, _ = sessions_in_outage(UNORDERED, 0.1, groups=1, timeout=60)

    assert "timed out" not in str(world.timeline())


def test_an_ordered_session_outlasts_as_many_invocations_as_its_first_message_has_deliveries() -> None:
    start = ServiceBusWorld().now
    world, _, placed = sessions_in_outage("ordered", 3, groups=1)

    (given_up,) = world.queue("error")
    after = (given_up.sent_at - start).total_seconds()
    assert (placed, given_up.exception_type, 16 * 270 <= after <= 26 * 270) == ([], "ConnectionError", True)


def test_the_callbacks_are_called_once_for_each_switch(world: World) -> None:
    calls: list[str] = []
    limit = RateLimit(FAILURES, on_started=lambda: calls.append("started"), on_ended=lambda: calls.append("ended"))
    in_order(world, limit)

    assert calls == ["started", "ended"]


def test_failures_that_are_too_few_call_nobody(world: World) -> None:
    calls: list[str] = []
    in_order(world, RateLimit(1_000, on_started=lambda: calls.append("started")))

    assert calls == []
