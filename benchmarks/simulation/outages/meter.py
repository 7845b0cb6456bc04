"""Counts what a cloud would bill in a world of either: invocations with their time, and calls to the broker, which take time too."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from math import ceil

from recoverable_local.testing import Fault, ServiceBusWorld, Slow, SqsWorld
from recoverable_local.testing.aws.api.sqs_client import OPERATIONS
from recoverable_local.testing.azure.fault_points import CALLS
from recoverable_local.testing.engine.fault_plan import FaultPoint
from simulation.meter import BATCH, CALL_TIME

World = SqsWorld | ServiceBusWorld

WAITS = Slow(timedelta(seconds=CALL_TIME))
CALLED = {*OPERATIONS, *CALLS}


class Meter:
    """Watches the points of a world.

    Args:
        world: whose time passes while its functions call the broker.
        queue: the queue that messages wait in.
        schedule: a queue that stands for a schedule, and costs nothing.
    """

    def __init__(self, world: World, queue: str, *, schedule: str = "") -> None:
        self._world, self._queue, self._schedule = world, queue, schedule
        self._counts: Counter[str] = Counter()
        self.last_sent: datetime | None = None
        world.ask_at_each_point(self._at)

    @property
    def invocations(self) -> int:
        """Return how often functions were invoked."""
        return self._counts["invoke"] + self._counts["scheduled"]

    @property
    def calls(self) -> int:
        """Return how many calls functions and their host made to the broker: a receive for each invocation, and its settling too."""
        return self._counts["invoke"] + self._counts["settle"] + self._counts["call"]

    def _at(self, point: FaultPoint) -> Fault | None:
        if point.when != "before":
            return None
        if point.what in CALLED:
            self._counts["call"] += 1
            if point.what.startswith("send") and point.queue == self._queue:
                self.last_sent = self._world.now
            return WAITS
        if point.queue == self._schedule:
            self._counts["scheduled"] += point.what == "invoke"
        else:
            self._counts[point.what] += ceil(len(point.message_ids) / BATCH) if point.what == "settle" else 1
        return None
