"""A trigger in the world of SQS that `PauseTrigger` can pause, and the probe on its schedule."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from datetime import datetime, timedelta
from typing import Any, cast

from recoverable.aws import SqsEndpoint
from recoverable.circuits import DynamoDbCircuit, PauseTrigger, Probe, SqsProbeQueue
from recoverable.circuits._pause import Mapping, PauseStore
from recoverable.headers import write_date
from recoverable_local.testing import SqsWorld
from recoverable_local.testing.aws.functions.mapping import EventSourceMapping
from simulation.cell import PLENTY
from simulation.outages.store import SharedCircuit
from simulation.outages.ways import QUEUE

SCHEDULE = "each-minute"
"""The queue whose messages stand for what EventBridge sends the probe."""

MINUTE = timedelta(minutes=1)

SWITCHING = timedelta(seconds=20)
"""How long a mapping is Disabling or Enabling, in which it goes on as before; assumed."""


class VirtualTrigger:
    """The event source mapping of the orders, and the mark that we paused it: AWS, as far as `PauseTrigger` needs it.

    Args:
        world: where the queue is served.
    """

    def __init__(self, world: SqsWorld) -> None:
        self._world, self._mark, self._state = world, "", "Enabled"
        self.queue_arn = world._existing(QUEUE).settings.arn

    def read_mark(self) -> str | None:
        """The mark."""
        return self._mark or None

    def set_mark(self, now: datetime) -> None:
        """Set it."""
        self._mark = write_date(now)

    def remove_mark(self, mark: str) -> None:
        """Remove it, if it is still this one."""
        self._mark = "" if self._mark == mark else self._mark

    def read_mapping(self) -> Mapping:
        """The mapping."""
        return Mapping("mapping", self._state)

    def enable(self, _mapping: Mapping) -> None:
        """Let it deliver soon."""
        self._become("Enabling", "Enabled", -PLENTY)

    def disable(self, _mapping: Mapping) -> None:
        """Let it soon deliver no more."""
        self._become("Disabling", "Disabled", PLENTY)

    def _become(self, now: str, soon: str, busier: int) -> None:
        def switch() -> None:
            mapping: EventSourceMapping = self._world._existing(QUEUE).changed[0].__self__  # type: ignore[attr-defined]  # a method
            mapping._busy += busier  # with its hands full it takes nothing
            mapping.plan()
            self._state = soon

        self._state = now
        self._world.at(SWITCHING, switch)


class ProbeQueue:
    """The orders as the probe asks for them.

    Args:
        client: the world's.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    def receive(self) -> Any | None:
        """One order."""
        everything = {"MessageSystemAttributeNames": ["All"], "MessageAttributeNames": ["All"]}
        found = self._client.receive_message(QueueUrl=QUEUE, MaxNumberOfMessages=1, **everything)
        return next(iter(found.get("Messages", ())), None)

    def delete(self, message: Any) -> None:
        """Delete it."""
        self._client.delete_message(QueueUrl=QUEUE, ReceiptHandle=message["ReceiptHandle"])


def pause_of(world: SqsWorld, store: SharedCircuit) -> PauseTrigger:
    """What pauses the trigger of the orders."""
    trigger = VirtualTrigger(world)
    return PauseTrigger(
        cast("DynamoDbCircuit", store),
        queue_arn=trigger.queue_arn,
        function=QUEUE,
        store=cast("PauseStore", trigger),
        clock=lambda: world.now,
    )


def serve_probe(
    world: SqsWorld, endpoint: SqsEndpoint, pause: PauseTrigger, until: datetime, over: Callable[[Any], Any]
) -> None:
    """Probe each minute.

    Args:
        world: where the queue is served.
        endpoint: what serves it.
        pause: what pauses it.
        until: when the schedule ends, for a world must.
        over: times a handler.
    """
    probe = Probe(endpoint, pause, cast("SqsProbeQueue", ProbeQueue(world.client)))

    def tick() -> None:
        Context().run(world.send, SCHEDULE, "tick")  # whoever waits at that moment is not who sends
        if world.now < until:
            world.at(MINUTE, tick)

    def probed(event: Any, context: Any) -> None:
        probe(event, context)

    world.serve(SCHEDULE, over(probed), concurrency=1)
    world.at(MINUTE / 2, tick)  # as likely before as after whatever else happens on the minute
