"""That a trigger which is paused during an outage runs again in the end, whoever dies when."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from random import Random

import pytest

from recoverable._rate_limit.state import CLOSED
from recoverable_local.testing import Died, Fault, SqsWorld
from recoverable_local.testing.engine.fault_plan import FaultPoint
from simulation.outages.database import Database
from simulation.outages.serving import serve_on_aws
from simulation.outages.store import SharedCircuit
from simulation.outages.ways import ERROR_QUEUE, QUEUE, WAYS

MESSAGES = 60
"""More than the probe could take by itself, at one a minute."""

MORTAL = {"attempt", "invoke", "send_message_batch", "delete_message_batch", "delete_message", "receive_message"}


def deadly(seed: int) -> Callable[[FaultPoint], Fault | None]:
    """One point in thirty is somebody's last: of the function, or of the probe."""
    chance = Random(seed)
    return lambda point: Died() if point.what in MORTAL and chance.random() < 1 / 30 else None


@pytest.mark.parametrize("seed", range(5))
def test_it_runs_again_and_nothing_is_lost_whoever_dies_whenever(seed: int) -> None:
    world = SqsWorld(seed=1, most_invocations=100_000)
    world.ask_at_each_point(deadly(seed))
    database, store = (Database(lambda: world.now, timedelta(minutes=10), world.spend), SharedCircuit(world.spend))
    serve_on_aws(world, WAYS["paused trigger"], database, store, 3)
    for _ in range(MESSAGES):
        world.send(QUEUE, "an order")
    world.run()

    assert (world.queue(QUEUE), world.queue(ERROR_QUEUE), store._snapshot.circuit) == ([], [], CLOSED)
    assert len(database.placed) >= MESSAGES
