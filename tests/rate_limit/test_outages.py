"""An outage on either cloud: who is attempted, who waits, where all end, and which callbacks are called."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest

from rate_limit.outage import ERROR, QUEUE, SHORT, Database, World, outage, serve
from rate_limit.stores import VirtualStore
from recoverable import Message, RateLimit
from recoverable._rate_limit.state import CLOSED


def test_without_a_limit_an_outage_moves_all_to_the_error_queue(world: World) -> None:
    database, sent = outage(world, None)

    assert (database.placed, len(world.queue(ERROR))) == ([], len(sent))


def test_with_a_limit_all_wait_for_the_end_of_the_outage(world: World) -> None:
    database, sent = outage(world, RateLimit(3))

    assert (sorted(database.placed), world.queue(ERROR)) == (sorted(sent), [])


def test_coroutines_that_share_a_circuit_wait_too(world: World) -> None:
    database, store = Database(world), VirtualStore(world)

    async def place(message: Message) -> None:
        database(message)

    serve(world, place, SHORT.__replace__(rate_limit=RateLimit(3, store=store)), instances=3)
    sent = [world.send(QUEUE, "a card") for _ in range(10)]
    world.run()

    assert (sorted(database.placed), world.queue(ERROR), store.circuit()) == (sorted(sent), [], CLOSED)


@pytest.mark.parametrize("wait", [1, 10])
def test_while_limited_attempts_are_apart(world: World, wait: int) -> None:
    database, _ = outage(world, RateLimit(3, timedelta(seconds=wait)))

    limited = database.failed[2:]
    assert len(limited) > 3
    assert min(after - before for before, after in pairwise(limited)) >= timedelta(seconds=wait)


def test_callbacks_are_called_once_for_each_switch(world: World) -> None:
    called: list[str] = []
    limit = RateLimit(3, on_started=lambda: called.append("started"), on_ended=lambda: called.append("ended"))

    outage(world, limit)

    assert called == ["started", "ended"]


def test_what_fails_for_another_reason_limits_nobody(world: World) -> None:
    database, _ = outage(world, RateLimit(3, counts=lambda error: not isinstance(error, ConnectionError)))

    assert (database.placed, len(world.queue(ERROR))) == ([], 20)


def test_after_the_longest_hold_messages_go_on_with_their_ladder(world: World) -> None:
    database, sent = outage(world, RateLimit(3, max_hold=timedelta(minutes=3)))

    assert len(world.queue(ERROR)) + len(database.placed) == len(sent)
    assert len(world.queue(ERROR)) > len(sent) / 2
