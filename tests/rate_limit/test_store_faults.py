"""A store that is away or slow at any time of an outage, in virtual time: the rate is limited neither for ever nor by turns, and nothing is lost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import pytest

from rate_limit.outage import CLOUDS, ERROR, outage
from rate_limit.stores import Trouble, VirtualStore
from recoverable import RateLimit
from recoverable._rate_limit.state import CLOSED

if TYPE_CHECKING:
    from recoverable._rate_limit.state import Circuit

pytestmark = pytest.mark.xdist_group("store faults")  # one process makes what its tests share, once

ORDERS, INSTANCES, FAILURES = 12, 4, 3
FOR_EVER = 10_000.0

TROUBLES: dict[str, tuple[Trouble, float, float]] = {
    # in minutes of an outage of ten
    "away before it and for ever": ("away", 0, FOR_EVER),
    "away while it starts": ("away", 0, 2),
    "away in its middle": ("away", 3, 7),
    "away when it ends": ("away", 8, 12),
    "away from its middle on": ("away", 5, FOR_EVER),
    "slow while it starts": ("slow", 0, 2),
    "slow when it ends": ("slow", 8, 12),
}
IN_PASSING = [name for name, (_, _, end) in TROUBLES.items() if end < FOR_EVER]
clouds = pytest.mark.parametrize("cloud", CLOUDS)


@dataclass(frozen=True)
class Ended:
    """The figures after an outage.

    Args:
        unplaced: orders that were sent and not placed.
        in_error: how many are in the error queue.
        calls: the callbacks.
        circuit: what the store holds in the end.
    """

    unplaced: set[str]
    in_error: int
    calls: list[str]
    circuit: Circuit


@cache
def ended(cloud: str, name: str) -> Ended:
    """Let an outage happen on this cloud with these faults, and return its end."""
    world, calls = CLOUDS[cloud](), list[str]()
    trouble, start, end = TROUBLES[name]
    store = VirtualStore(world, trouble, (start, end))
    limit = RateLimit(
        FAILURES, store=store, on_started=lambda: calls.append("started"), on_ended=lambda: calls.append("ended")
    )
    database, sent = outage(world, limit, orders=ORDERS, instances=INSTANCES)
    return Ended(set(sent) - set(database.placed), len(world.queue(ERROR)), calls, store.circuit())


@clouds
@pytest.mark.parametrize("name", TROUBLES)
def test_all_is_processed_and_nothing_is_in_the_error_queue(cloud: str, name: str) -> None:
    after = ended(cloud, name)

    assert (after.unplaced, after.in_error) == (set(), 0)


@clouds
@pytest.mark.parametrize("name", IN_PASSING)
def test_a_store_that_comes_back_holds_a_normal_circuit_in_the_end(cloud: str, name: str) -> None:
    assert ended(cloud, name).circuit == CLOSED


@clouds
@pytest.mark.parametrize("name", IN_PASSING)
def test_callbacks_are_made_once_for_each_switch_of_a_store_that_comes_back(cloud: str, name: str) -> None:
    assert ended(cloud, name).calls == ["started", "ended"]
