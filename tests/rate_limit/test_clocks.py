"""Instances whose clocks differ share a circuit, in virtual time: the worse they agree, the less apart are attempts, but nothing is lost or limited for ever."""

from __future__ import annotations

from datetime import timedelta

import pytest

from rate_limit.outage import ERROR, World, outage
from rate_limit.stores import VirtualStore
from recoverable import RateLimit
from recoverable._rate_limit.state import CLOSED
from recoverable_local.testing import ClockSkewed, Died, Fault, SqsWorld
from recoverable_local.testing.engine.fault_plan import FaultPoint

ORDERS, INSTANCES = 20, 4


@pytest.mark.parametrize("seconds", [1, 20, 120, 3600])
def test_all_is_processed_and_each_switch_called_back_once_however_clocks_differ(world: World, seconds: int) -> None:
    store, calls = VirtualStore(world), list[str]()
    limit = RateLimit(
        3, store=store, on_started=lambda: calls.append("started"), on_ended=lambda: calls.append("ended")
    )
    skews = dict(enumerate((seconds, -seconds, seconds / 2), start=1))

    def skewed(point: FaultPoint) -> Fault | None:
        """Return the fault of the first invocations: their instances' clocks are wrong, for good."""
        first = (point.when, point.what) == ("before", "attempt") and point.invocation in skews
        return ClockSkewed(timedelta(seconds=skews[point.invocation])) if first else None

    world.ask_at_each_point(skewed)
    database, sent = outage(world, limit, orders=ORDERS, instances=INSTANCES)

    assert (sorted(database.placed), world.queue(ERROR)) == (sorted(sent), [])
    assert (calls, store.circuit()) == (["started", "ended"], CLOSED)


def test_an_instance_whose_clock_was_an_hour_ahead_holds_nobody_up_after_its_death() -> None:
    """On SQS: Service Bus gives what that instance has scheduled back an hour later too."""
    world = SqsWorld()
    store, began = VirtualStore(world), world.now
    world.fail("attempt", ClockSkewed(timedelta(hours=1)), nth=1)
    died = world.fail("attempt", Died(), nth=1, after=60)
    database, sent = outage(world, RateLimit(3, store=store), orders=ORDERS)

    assert (died.hits, sorted(database.placed), world.queue(ERROR)) == (1, sorted(sent), [])
    assert world.now - began < timedelta(minutes=30)
