"""How each way is served on each cloud."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import wraps
from math import ceil
from typing import Any

import azure.functions as func

from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import ServiceBusWorld, SqsWorld
from simulation.cell import TIMEOUT, VISIBILITY_TIMEOUT
from simulation.meter import Handler
from simulation.outages.database import Database
from simulation.outages.meter import Meter
from simulation.outages.pausing import pause_of, serve_probe
from simulation.outages.prices import aws_dollars, azure_dollars
from simulation.outages.store import SharedCircuit
from simulation.outages.ways import ERROR_QUEUE, QUEUE, Way, shared

AFTERWARDS = timedelta(minutes=20)
"""How long after the outage the probe is still called: five minutes longer than the last message waits."""

RECEIVES = {"ours": 50, "redrive policy": 5}
"""`maxReceiveCount`: with us it only catches what dies, alone it is all there is."""

DELIVERIES = {"ours": 100, "redrive policy": 10}
"""`maxDeliveryCount`, as our template has it, and as Service Bus has it by default."""

Bill = Callable[[Meter], float]


class Stopwatch:
    """Adds up what Lambda bills, to the millisecond.

    Args:
        now: the world's time.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now, self.seconds = now, 0.0

    def over(self, handler: Handler) -> Handler:
        """Wrap a handler so that its time is counted."""

        @wraps(handler)
        def timed(event: dict[str, Any], context: Any) -> Any:
            began = self._now()
            try:
                return handler(event, context)
            finally:
                self.seconds += ceil((self._now() - began).total_seconds() * 1_000) / 1_000

        return timed


def serve_on_aws(world: SqsWorld, way: Way, database: Database, store: SharedCircuit, instances: int) -> Bill:
    """Serve the orders by Lambda; return a function that gives the dollars in the end."""
    watch = Stopwatch(lambda: world.now)
    make_queue(world, way)
    handler = handler_of(world, way, database, store, watch)
    world.serve(
        QUEUE,
        watch.over(handler),
        concurrency=instances,
        timeout=TIMEOUT,
        partial_responses=way.ladder is not None,
        recursive_loop="Allow",
    )
    return lambda meter: aws_dollars(meter.calls, meter.invocations, watch.seconds)


def handler_of(world: SqsWorld, way: Way, database: Database, store: SharedCircuit, watch: Stopwatch) -> Handler:
    """Return the function that Lambda calls, and the probe where there is one."""
    if way.ladder is None:
        return plain(database)
    if not way.pauses:
        return SqsEndpoint(database.place_order, way.ladder(store))
    pause = pause_of(world, store)
    endpoint = SqsEndpoint(database.place_order, shared(store, on_started=pause.start, on_ended=pause.stop))
    serve_probe(world, endpoint, pause, database.over + AFTERWARDS, watch.over)
    return endpoint


def make_queue(world: SqsWorld, way: Way) -> None:
    """Create the queue and its dead-letter queue."""
    world.create_queue(
        QUEUE,
        visibility_timeout=VISIBILITY_TIMEOUT,
        dead_letter_queue=ERROR_QUEUE,
        max_receive_count=RECEIVES["ours" if way.ladder else "redrive policy"],
    )


def plain(database: Database) -> Handler:
    """Return a handler that is a loop; an exception fails the batch."""

    def handler(event: dict[str, Any], _context: Any) -> None:
        for _ in event["Records"]:
            database.place()

    return handler


def serve_on_azure(world: ServiceBusWorld, way: Way, database: Database, store: SharedCircuit, instances: int) -> Bill:
    """Serve the orders by Functions, one at a time in each instance; return a function that gives the dollars in the end."""
    world.create_queue(
        QUEUE, dead_letter_queue=ERROR_QUEUE, max_delivery_count=DELIVERIES["ours" if way.ladder else "redrive policy"]
    )
    world.serve(QUEUE, app_of(way, database, store), instances=instances, concurrency=1)
    return lambda meter: azure_dollars(meter.calls, meter.invocations)


def app_of(way: Way, database: Database, store: SharedCircuit) -> func.FunctionApp | ServiceBusEndpoint[Any]:
    """Return the app that the host runs."""
    if way.ladder is not None:
        return ServiceBusEndpoint(
            database.place_order, way.ladder(store), queue=QUEUE, connection="ServiceBus", name="place_order"
        )
    app = func.FunctionApp()

    @app.service_bus_queue_trigger(
        arg_name="message", queue_name=QUEUE, connection="ServiceBus", data_type=func.DataType.BINARY
    )
    def place_order(message: func.ServiceBusMessage) -> None:
        database.place()

    return app
