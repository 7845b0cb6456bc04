"""Define a scenario on Service Bus, and make its world."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from math import inf
from typing import Any

import azure.functions as func

from proof.handlers import Behaving
from proof.ladders import ERRORS, ladder
from proof.policies import granted_by
from proof.sends import TOPIC
from recoverable import Message, Recoverability
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import Fault, ServiceBusWorld
from recoverable_local.testing.engine.fault_plan import FaultPoint

QUEUE = "jobs"
SHORT = ladder()
MESSAGE_ID = "NServiceBus.MessageId"

LOCK, TIMEOUT = 30, 60
"""Seconds; the least of each that leaves "slow" room."""

WINDOW = 600.0
"""Seconds for which duplicates are detected, where they are."""

FORTNIGHT = 14 * 24 * 3600


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A world of one queue and one function, and what is sent to it.

    Args:
        name: what is special about it.
        bodies: what each message does, see `Behaving`; the first is "m1".
        recoverability: the ladder.
        endpoint: what else the endpoint is set to.
        host: what else the host is set to.
        coroutine: whether the handler is one.
        message: what else each message is sent with.
        detects: the queues that detect duplicates.
        text: whether the function has a trigger of its own, without binary data.
        outage: what goes wrong anyway, given the point and the seconds since the world's beginning.
        counted: whether each round has the attempts that the default policy gives it.
        copied: whether copies can be made.
        apart: whether killers run apart from others, because handlers take no time.
        faults: whether it is searched with faults.
        create_missing: whether queues that a policy names are there.
        fifo: whether all retries keep the order; all messages are then of one session.
        sends_to: where handlers send.
        overlaps: whether a batch may outlive its locks, so that another begins beside it.
    """

    name: str
    bodies: tuple[str, ...]
    recoverability: Recoverability = SHORT
    endpoint: Mapping[str, Any] = field(default_factory=dict)
    host: Mapping[str, Any] = field(default_factory=dict)
    coroutine: bool = False
    message: Mapping[str, Any] = field(default_factory=dict)
    detects: tuple[str, ...] = ()
    text: bool = False
    outage: Callable[[FaultPoint, float], Fault | None] = lambda _point, _now: None
    counted: bool = True
    copied: bool = True
    apart: bool = True
    faults: bool = True
    create_missing: bool = True
    queue: str = QUEUE
    fifo: bool = False
    sends_to: tuple[str, ...] = ("out",)
    overlaps: bool = False

    @property
    def waits_in_place(self) -> bool:
        """True if a delay is waited out inside an invocation."""
        return self.endpoint.get("sessions") == "ordered"

    @property
    def lock(self) -> float:
        """Return for how many seconds a batch has its messages; infinity for single ones and sessions, whose locks the host renews."""
        return LOCK if self.endpoint.get("batch") and not self.sessions else inf

    @property
    def header_counter(self) -> bool:
        """True if an immediate retry is a copy."""
        return bool(self.endpoint.get("batch"))

    @property
    def sessions(self) -> bool:
        """True if the queue has sessions."""
        return bool(self.endpoint.get("sessions"))

    @property
    def attempts_per_round(self) -> int:
        """Return the attempts of a round; where sessions keep their order no policy grants more."""
        granted = 0 if self.fifo else granted_by(self.recoverability)
        return self.recoverability.immediate.max_retries + granted + 1

    @property
    def attempts(self) -> int:
        """Return the attempts of the whole ladder."""
        return self.attempts_per_round * (self.recoverability.delayed.max_retries + 1)

    def window(self, queue: str) -> float:
        """Return for how many seconds a queue detects duplicates."""
        return WINDOW if queue in self.detects else 0.0


def world_of(scenario: Scenario) -> tuple[ServiceBusWorld, dict[str, str], Behaving]:
    """Return the world before anything happens, the bodies by the broker's ids of what was sent, and the handler."""
    world = ServiceBusWorld(most_invocations=300, create_missing=scenario.create_missing)
    make_queues(world, scenario)
    sent = {send(world, scenario, number, body): body for number, body in enumerate(scenario.bodies, 1)}
    behaving = Behaving(world, scenario.sends_to)
    world.serve(scenario.queue, app_of(scenario, behaving), timeout=TIMEOUT, **scenario.host)
    return world, sent, behaving


def make_queues(world: ServiceBusWorld, scenario: Scenario) -> None:
    """Make the queues with the fewest deliveries that the design allows."""
    window = dict.fromkeys(scenario.detects, WINDOW)
    world.create_queue(ERRORS, duplicate_detection=window.get(ERRORS), time_to_live=FORTNIGHT)
    world.create_queue(
        scenario.queue,
        lock=LOCK,
        max_delivery_count=scenario.attempts + 10
        if scenario.fifo
        else scenario.recoverability.immediate.max_retries + 6,
        dead_letter_queue=ERRORS,
        sessions=scenario.sessions,
        duplicate_detection=window.get(scenario.queue),
        time_to_live=FORTNIGHT,
    )
    for name in scenario.sends_to:
        if name.startswith(TOPIC):
            world.create_topic(name)
        else:
            world.create_queue(name, duplicate_detection=window.get(name))


def app_of(scenario: Scenario, behaving: Behaving) -> Any:
    """Return the app that the host runs."""
    handler = as_coroutine(behaving) if scenario.coroutine else behaving
    endpoint = ServiceBusEndpoint(
        handler,
        scenario.recoverability,
        **{"queue": scenario.queue, "connection": "ServiceBus", "name": "jobs", **scenario.endpoint},
    )
    return with_text_trigger(endpoint) if scenario.text else endpoint


def as_coroutine(handler: Behaving) -> Callable[[Message], Awaitable[None]]:
    """Return the same handler as a coroutine."""

    async def behaving(message: Message) -> None:
        handler(message)

    return behaving


def with_text_trigger(endpoint: ServiceBusEndpoint[Any]) -> func.FunctionApp:
    """Return an app whose trigger was written by hand, without binary data, and calls the endpoint."""
    made = func.FunctionApp()

    def jobs(message: func.ServiceBusMessage) -> None:
        endpoint(message)

    trigger: Any = made.service_bus_queue_trigger(arg_name="message", queue_name=QUEUE, connection="ServiceBus")
    trigger(jobs)
    return made


@cache
def session_of(number: int) -> str:
    """Return one of two sessions for a message."""
    return f"s{number % 2}"


def send(world: ServiceBusWorld, scenario: Scenario, number: int, body: str) -> str:
    """Send one message; return the broker's id for it."""
    message = dict(scenario.message)
    attributes = {**message.pop("attributes", {}), MESSAGE_ID: f"m{number}"}
    if scenario.sessions:
        message["group_id"] = "one" if scenario.fifo else session_of(number)
    world.send(scenario.queue, body, attributes=attributes, **message)
    return next(reversed(world._register.contents))
