"""Define a scenario on SQS, and make its world."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from math import inf
from typing import Any
from unittest.mock import patch

from proof.handlers import Behaving, as_coroutine
from proof.ladders import ERRORS, ladder
from proof.policies import granted_by
from proof.sends import TOPIC
from recoverable import Recoverability
from recoverable._sqs.wire import HEADERS
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import Fault, SqsWorld
from recoverable_local.testing.engine.fault_plan import FaultPoint

DEDUPLICATION = 300.0
"""Seconds for which a FIFO queue knows duplicates."""

VISIBILITY = 180
"""Seconds for which a queue hides what it gave out: six times the function's time-out, as AWS recommends."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A world of one queue and one function, and what is sent to it.

    Args:
        name: what is special about it.
        bodies: what each message does, see `Behaving`; the first is "m1".
        recoverability: the ladder.
        endpoint: what else the endpoint is set to.
        mapping: what else the event source mapping is set to.
        queue: the queue's name; ".fifo" makes it one with a single group.
        coroutine: whether the handler is one.
        message: what else each message is sent with.
        named: whether ids are headers of ours, so that they are short and in the order of the bodies.
        outage: what goes wrong anyway, given the point and the seconds since the world's beginning.
        counted: whether each round has the attempts that the default policy gives it.
        copied: whether copies can be made: of what is too large none can, and the redrive policy takes it.
        seed: draws the order in which the queue hands out its messages; None for the order of sending.
        faults: whether it is searched with faults.
        sends_to: where handlers send.
        create_missing: whether queues that nobody made are there.
        visibility: seconds for which the queue hides what it gave out.
        retention: how long the queue keeps a message.
        overlaps: whether a delivery may outlive its visibility timeout, so that another begins beside it.
    """

    name: str
    bodies: tuple[str, ...]
    recoverability: Recoverability = field(default_factory=ladder)
    endpoint: Mapping[str, Any] = field(default_factory=dict)
    mapping: Mapping[str, Any] = field(default_factory=dict)
    queue: str = "jobs"
    coroutine: bool = False
    message: Mapping[str, Any] = field(default_factory=dict)
    named: bool = True
    outage: Callable[[FaultPoint, float], Fault | None] = lambda point, now: None
    counted: bool = True
    copied: bool = True
    seed: int | None = None
    faults: bool = True
    sends_to: tuple[str, ...] = ("out",)
    create_missing: bool = True
    visibility: int = VISIBILITY
    retention: timedelta = timedelta(days=4)
    overlaps: bool = False

    @property
    def waits_in_place(self) -> bool:
        """True if a delay is waited out inside an invocation."""
        return False

    @property
    def lock(self) -> float:
        """Return infinity: an endpoint can hide its messages for longer."""
        return inf

    @property
    def fifo(self) -> bool:
        """True if the queue keeps the order."""
        return self.queue.endswith(".fifo")

    @property
    def apart(self) -> bool:
        """True: a killer is kept apart from what comes with it, because the adapter sees the whole batch and orders it."""
        return True

    def window(self, queue: str) -> float:
        """Return for how many seconds a queue detects duplicates."""
        return DEDUPLICATION if queue.endswith(".fifo") else 0.0

    @property
    def header_counter(self) -> bool:
        """True if an immediate retry is a copy."""
        return self.endpoint.get("counter") == "header"

    @property
    def attempts_per_round(self) -> int:
        """Return the attempts of a round; in a FIFO queue no policy grants more."""
        granted = 0 if self.fifo else granted_by(self.recoverability)
        return self.recoverability.immediate.max_retries + granted + 1

    @property
    def attempts(self) -> int:
        """Return the attempts of the whole ladder."""
        return self.attempts_per_round * (self.recoverability.delayed.max_retries + 1)


def world_of(scenario: Scenario) -> tuple[SqsWorld, dict[str, str], Behaving]:
    """Return the world before anything happens, the bodies by the broker's ids of what was sent, and the handler."""
    world = SqsWorld(seed=scenario.seed, most_invocations=300, create_missing=scenario.create_missing)
    make_queues(world, scenario)
    behaving = Behaving(world, scenario.sends_to)
    handler = as_coroutine(behaving, world) if scenario.coroutine else behaving
    managed = {"AWS_LAMBDA_MAX_CONCURRENCY": "4"} if scenario.mapping.get("managed_instances") else {}
    with patch.dict(os.environ, managed):
        endpoint = SqsEndpoint(handler, scenario.recoverability, **scenario.endpoint)
    partial = bool(scenario.endpoint.get("partial_responses", True))
    world.serve(scenario.queue, endpoint, recursive_loop="Allow", partial_responses=partial, **scenario.mapping)
    make_queue(
        world, scenario, scenario.visibility
    )  # lowered after Lambda has compared it with the function's time-out
    return world, {send(world, scenario, n, body): body for n, body in enumerate(scenario.bodies, 1)}, behaving


def make_queues(world: SqsWorld, scenario: Scenario) -> None:
    """Make the queues with the smallest `maxReceiveCount` that the design allows."""
    errors = scenario.recoverability.failed.error_queue or ERRORS
    world.create_queue(errors, retention=timedelta(days=14))
    make_queue(world, scenario, VISIBILITY)
    for name in scenario.sends_to:
        (world.create_topic if name.startswith(TOPIC) else world.create_queue)(name)


def make_queue(world: SqsWorld, scenario: Scenario, visibility: int) -> None:
    """Make the queue that is served, or change its visibility timeout."""
    errors = scenario.recoverability.failed.error_queue or ERRORS
    neighbour = errors if errors.endswith(".fifo") == scenario.fifo else f"dead-{scenario.queue}"
    receives = scenario.attempts + 10 if scenario.fifo else scenario.recoverability.immediate.max_retries + 6
    world.create_queue(
        scenario.queue,
        visibility_timeout=visibility,
        retention=scenario.retention,
        dead_letter_queue=neighbour,
        max_receive_count=receives,
    )


def send(world: SqsWorld, scenario: Scenario, number: int, body: str) -> str:
    """Send one message; return the broker's id for it."""
    ours = {HEADERS: f'{{"NServiceBus.MessageId": "m{number}"}}'} if scenario.named else {}
    message = dict(scenario.message)
    attributes = {**message.pop("attributes", {}), **ours}
    if scenario.fifo:
        message |= {"group_id": "g", "deduplication_id": str(number)}
    return world.send(scenario.queue, body, attributes=attributes, **message)
