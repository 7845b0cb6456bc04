"""Twenty instances that share a circuit, in virtual time: when they attempt, who calls back, and what their messages have left."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from rate_limit.outage import CLOUDS, ERROR, QUEUE, SHORT, Database, World, outage, serve
from rate_limit.stores import VirtualStore
from recoverable import Delayed, Immediate, Message, RateLimit
from recoverable._rate_limit.limiter import Limiter
from recoverable._rate_limit.state import CLOSED

if TYPE_CHECKING:
    from recoverable._rate_limit.state import Circuit

pytestmark = pytest.mark.xdist_group("sharing")  # one process makes what its tests share, once

ORDERS, INSTANCES, FAILURES, WAIT = 40, 20, 3, 2
AWAY = timedelta(minutes=10)


@dataclass(frozen=True)
class Ended:
    """The figures after an outage.

    Args:
        began: when it began.
        failed: the attempts during it.
        placed: the orders that were placed.
        sent: those that were sent.
        in_error: how many are in the error queue.
        calls: the callbacks.
        circuit: what the store holds in the end.
    """

    began: datetime
    failed: list[datetime]
    placed: list[str]
    sent: list[str]
    in_error: int
    calls: list[str]
    circuit: Circuit


@cache
def ended(cloud: str) -> Ended:
    """Let an outage happen on this cloud, and return its end."""
    world, calls = CLOUDS[cloud](), list[str]()
    store, began = VirtualStore(world), world.now
    database, sent = outage(world, shared(store, calls), orders=ORDERS, instances=INSTANCES)
    return Ended(began, database.failed, database.placed, sent, len(world.queue(ERROR)), calls, store.circuit())


def shared(store: VirtualStore, calls: list[str]) -> RateLimit:
    """Return a limit for all instances, whose callbacks are noted."""
    return RateLimit(
        FAILURES,
        timedelta(seconds=WAIT),
        store=store,
        on_started=lambda: calls.append("started"),
        on_ended=lambda: calls.append("ended"),
    )


@pytest.fixture(params=CLOUDS)
def after(request: pytest.FixtureRequest) -> Ended:
    """Let an outage happen on each cloud, and return its end."""
    return ended(request.param)


def test_attempts_are_a_wait_apart(after: Ended) -> None:
    limited = [at for at in after.failed if at > after.began + timedelta(seconds=1)]

    assert len(limited) > 10
    assert min(late - early for early, late in pairwise(limited)) >= timedelta(seconds=WAIT)


def test_an_attempt_is_made_in_each_wait_beside_those_that_start_it(after: Ended) -> None:
    assert len(after.failed) <= AWAY.total_seconds() / WAIT + INSTANCES * FAILURES


def test_all_is_processed_and_nothing_is_in_the_error_queue(after: Ended) -> None:
    assert (sorted(after.placed), after.in_error) == (sorted(after.sent), 0)


def test_one_instance_calls_back_for_each_switch(after: Ended) -> None:
    assert after.calls == ["started", "ended"]


def test_the_first_success_ends_it_for_all(after: Ended) -> None:
    assert after.circuit == CLOSED
    assert max(after.failed) < after.began + AWAY


def test_a_message_has_as_many_attempts_left_after_the_outage_as_before(world: World) -> None:
    """One that has come to its second round stays at the first attempt of it, however often it probes and waits."""
    database, runs = Database(world, timedelta(0)), list[tuple[int, int]]()

    def place(message: Message) -> None:
        if message.text == "is retried":
            runs.append((message.round, message.attempt))
            if message.round == 0:
                raise ValueError("not yet")
        database(message)

    ladder = SHORT.__replace__(immediate=Immediate(1), delayed=Delayed(1, timedelta(seconds=10)))
    serve(world, place, ladder.__replace__(rate_limit=shared(VirtualStore(world), [])), instances=INSTANCES)
    retried = world.send(QUEUE, "is retried")
    world.run(for_=5)
    database.begin(AWAY)
    for _ in range(ORDERS):
        world.send(QUEUE, "waits")
    world.run()

    assert runs[:2] == [(0, 1), (0, 2)]
    assert len(runs) > 3
    assert set(runs[2:]) == {(1, 1)}
    assert retried in database.placed


def test_attempts_would_not_be_a_wait_apart_if_nobody_claimed_the_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    """That the test above can fail."""

    def unclaimed(*_turn: object) -> bool:
        return True

    monkeypatch.setattr(Limiter, "_claims", unclaimed)
    after = ended.__wrapped__("SQS")

    limited = [at for at in after.failed if at > after.began + timedelta(seconds=1)]
    assert min(late - early for early, late in pairwise(limited)) < timedelta(seconds=WAIT)
