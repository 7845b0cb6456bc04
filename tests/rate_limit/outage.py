"""An outage for either cloud, in virtual time: a database that is away for a while, and orders that are sent before."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import azure.functions as func

from recoverable import Delayed, Failed, Immediate, Message, RateLimit, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import ServiceBusWorld, SqsWorld

QUEUE, ERROR = "orders", "error"
World = SqsWorld | ServiceBusWorld
CLOUDS: dict[str, Callable[[], World]] = {"SQS": SqsWorld, "Service Bus": ServiceBusWorld}
Handler = Callable[[Message], Any]

SHORT = Recoverability(Immediate(40), Delayed(0), Failed(ERROR))
"""A ladder that gives up within seconds, though not before twenty instances have counted three failures, all of which may be one message's."""


class Database:
    """A handler that fails until the outage is over, and notes when it was tried.

    Args:
        world: whose time it lives in.
        away: for how long it fails.
    """

    def __init__(self, world: World, away: timedelta = timedelta(minutes=10)) -> None:
        self._world, self._over = world, world.now + away
        self.failed: list[datetime] = []
        self.placed: list[str] = []

    def begin(self, away: timedelta) -> None:
        """Begin an outage now."""
        self._over = self._world.now + away

    def __call__(self, message: Message) -> None:
        """Fail, or place the order."""
        if self._world.now < self._over:
            self.failed.append(self._world.now)
            raise ConnectionError("the database is away")
        self.placed.append(message.id)


def serve(world: World, handler: Handler, settings: Recoverability, *, instances: int = 1) -> None:
    """Let the handler serve the orders on this cloud."""
    if isinstance(world, SqsWorld):
        world.create_queue(QUEUE, dead_letter_queue=ERROR, max_receive_count=100)
        endpoint = SqsEndpoint(handler, settings)
        world.serve(QUEUE, endpoint, concurrency=instances, recursive_loop="Allow")
        return
    app = func.FunctionApp()
    served = ServiceBusEndpoint(handler, settings, queue=QUEUE, connection="ServiceBus", name="place_order")
    app.register_functions(served.blueprint())
    world.serve(QUEUE, app, instances=instances, concurrency=1)


def outage(
    world: World, limit: RateLimit | None, *, orders: int = 20, instances: int = 1
) -> tuple[Database, list[str]]:
    """Let an outage happen. Return the database at the end, and the orders that were sent."""
    database = Database(world)
    serve(world, database, SHORT.__replace__(rate_limit=limit), instances=instances)
    sent = [world.send(QUEUE, "a card") for _ in range(orders)]
    world.run()
    return database, sent
