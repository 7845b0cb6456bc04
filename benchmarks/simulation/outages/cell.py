"""One cell of the table: a way, a cloud, so many instances, so many messages that wait when the outage begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import perf_counter
from typing import NamedTuple

from recoverable_local.testing import ServiceBusWorld, SqsWorld
from simulation.cell import PLENTY
from simulation.outages.database import Database
from simulation.outages.meter import Meter, World
from simulation.outages.pausing import SCHEDULE
from simulation.outages.prices import store_dollars
from simulation.outages.serving import serve_on_aws, serve_on_azure
from simulation.outages.store import SharedCircuit
from simulation.outages.ways import ERROR_QUEUE, QUEUE, WAYS, Way


class Cell(NamedTuple):
    """The settings of one simulation.

    Args:
        way: a name of `WAYS`.
        cloud: "AWS" or "Azure".
        instances: the most invocations at a time.
        messages: how many wait when the function is connected, which is when the outage begins.
        minutes: how long the outage takes.
    """

    way: str
    cloud: str
    instances: int
    messages: int
    minutes: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The figures of one simulation.

    Args:
        cell: what was simulated.
        set_aside: messages that are in the error queue in the end.
        placed: messages that were processed, which is after the outage.
        fewest_left: attempts that the worst off still had when its last one began; none when one was set aside.
        failed: attempts during the outage.
        normal: from the end of the outage until the second success, for the first is the probe's, and until no message is deferred any more.
        peak: the most messages that were processed in one second.
        done: from the end of the outage until the last success.
        invocations: of functions.
        calls: to the broker, those of the host too.
        store_calls: to the shared circuit.
        dollars: for all of it.
        took: real seconds.
    """

    cell: Cell
    set_aside: int
    placed: int
    fewest_left: int
    failed: int
    normal: timedelta | None
    done: timedelta | None
    peak: int
    invocations: int
    calls: int
    store_calls: int
    dollars: float
    took: float


def simulate(cell: Cell, way: Way | None = None) -> Result:
    """Connect the function when the outage begins, send the messages, and let the world go on until nothing is left to do.

    Args:
        cell: what is simulated.
        way: another way than the cell names.
    """
    began, world = perf_counter(), world_of(cell.cloud)
    database = Database(lambda: world.now, timedelta(minutes=cell.minutes), world.spend)
    meter, store, way = Meter(world, QUEUE, schedule=SCHEDULE), SharedCircuit(world.spend), way or WAYS[cell.way]
    if isinstance(world, SqsWorld):
        bill = serve_on_aws(world, way, database, store, cell.instances)
    else:
        bill = serve_on_azure(world, way, database, store, cell.instances)
    for _ in range(cell.messages):
        world.send(QUEUE, "an order")
    world.run()
    dollars = bill(meter) + store_dollars(cell.cloud, store.calls)
    return measured(cell, world, database, meter, store, dollars=dollars, took=perf_counter() - began)


def world_of(cloud: str) -> World:
    """Return a world of this cloud, whose runs may be long."""
    if cloud == "AWS":
        return SqsWorld(seed=1, most_invocations=PLENTY)
    return ServiceBusWorld(most_invocations=PLENTY)


def measured(
    cell: Cell, world: World, database: Database, meter: Meter, store: SharedCircuit, *, dollars: float, took: float
) -> Result:
    """Return the result at the end."""
    placed, over, set_aside = database.placed, database.over, len(world.queue(ERROR_QUEUE))
    deferred = meter.last_sent or over  # after the outage only deferrals are sent, for nothing fails any more
    return Result(
        cell=cell,
        set_aside=set_aside,
        placed=len(placed),
        fewest_left=0 if set_aside else database.fewest_left,
        failed=len(database.failed),
        normal=max(placed[:2][-1], deferred) - over if placed else None,
        done=placed[-1] - over if placed else None,
        peak=most_in_a_second(placed),
        invocations=meter.invocations,
        calls=meter.calls,
        store_calls=store.calls.total(),
        dollars=dollars,
        took=took,
    )


def most_in_a_second(moments: Sequence[datetime]) -> int:
    """Return how many of these are in the second that has most of them."""
    return max(Counter(int(moment.timestamp()) for moment in moments).values(), default=0)
