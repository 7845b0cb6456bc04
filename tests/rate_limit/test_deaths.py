"""Instances that die in an outage, in virtual time: whoever was to probe, another does, and nothing is lost."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from random import Random

import pytest

from rate_limit.outage import ERROR, World, outage
from rate_limit.stores import VirtualStore
from recoverable import RateLimit
from recoverable._rate_limit.state import CLOSED, LEASE
from recoverable_local.testing import Died, Fault
from recoverable_local.testing.engine.fault_plan import FaultPoint

ORDERS, INSTANCES, FAILURES = 12, 4, 3
AWAY = timedelta(minutes=10)
"""How long an outage is."""


def test_an_instance_that_dies_as_the_prober_is_waited_for_no_longer_than_its_lease(world: World) -> None:
    died, over = world.fail("attempt", Died(), nth=12, after=30), world.now + AWAY
    database, sent = outage(world, RateLimit(FAILURES, store=VirtualStore(world)), orders=ORDERS, instances=INSTANCES)

    assert died.hits == 1
    assert (sorted(database.placed), world.queue(ERROR)) == (sorted(sent), [])
    assert max(late - early for early, late in pairwise([*database.failed, over])) < LEASE + AWAY / 10


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_lost_whoever_dies_whenever(world: World, seed: int) -> None:
    """One in fifty points is somebody's last: before and after attempts, sends, deletes and settling."""
    chance, store = Random(seed), VirtualStore(world)

    def deadly(point: FaultPoint) -> Fault | None:
        mortal = point.what in {"attempt", "invoke", "send_message_batch", "delete_message_batch", "send_messages"}
        return Died() if mortal and chance.random() < 0.02 else None

    world.ask_at_each_point(deadly)
    database, sent = outage(world, RateLimit(FAILURES, store=store), orders=ORDERS, instances=INSTANCES)

    assert set(database.placed) | {seen.id for seen in world.queue(ERROR)} == set(sent)
    assert store.circuit() == CLOSED
