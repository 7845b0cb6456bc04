"""Replay a scenario on Service Bus."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from nservicebus.service_bus_retries import retry_problem
from proof.lineage import Origin, origin_from
from proof.replaying import Batch, Injector, Replay, Schedule, Struck, replay
from proof.service_bus.lineage import TRACE, traced
from proof.service_bus.scenarios import Scenario, world_of
from recoverable_local.testing import EndlessRun, ServiceBusWorld
from recoverable_local.testing.azure.broker.contents import fields_of, properties_of
from recoverable_local.testing.azure.seen_message import OURS
from recoverable_local.testing.timeline import Entry

OURS_IN_A_COPY = (*OURS, TRACE, "DeadLetter")
"""Prefixes of the properties that a copy or a dead letter gets."""


@replay.register
def replay_service_bus(scenario: Scenario, schedule: Schedule) -> Replay:
    """Run the scenario until nothing is left to do, or for too long."""
    world, sent, behaving = world_of(scenario)
    injector = Injector(scenario, schedule, world)
    world.ask_at_each_point(injector)
    endless = False
    with traced(world):
        try:
            world.run()
        except EndlessRun:
            endless = True
    contents, entries = world._register.contents, world._journal._entries
    batches = batches_of(entries)
    elsewhere = {scenario.queue, *scenario.sends_to}  # where no message is given up
    return Replay(
        scenario,
        schedule,
        sent,
        injector.visits,
        [with_batch(struck, batches) for struck in injector.struck],
        batches,
        entries,
        {one: origin_of(content.application_properties()) for one, content in contents.items()},
        lambda broker_id: kept(world, broker_id),
        lambda broker_id: problem_of_retry(world, broker_id),
        {one: world._identity(one) for one in contents},
        world.queue(scenario.queue),
        [seen for name in world._queues.names() if name not in elsewhere for seen in world.queue(name)],
        endless,
        world,
        behaving.runs,
    )


def batches_of(entries: list[Entry]) -> Mapping[int, Batch]:
    """Return what each invocation received, and which delivery of each message it was."""
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for entry in entries:
        if entry.what == "received":
            found[entry.invocation][entry.broker_id] = int(entry.detail.split()[1])
    return found


def with_batch(struck: Struck, batches: Mapping[int, Batch]) -> Struck:
    """Return the fault with all messages of the invocation that it hit."""
    number = struck.point.invocation
    return struck._replace(batch=tuple(batches[number])) if number in batches else struck


def origin_of(properties: Mapping[str, Any]) -> Origin | None:
    """Return the origin that a broker message carries."""
    return origin_from(properties.get(TRACE))


def problem_of_retry(world: ServiceBusWorld, broker_id: str) -> str:
    """Return why ServiceControl could not import an error copy and send it back as it was; nothing where all is well."""
    content = world._register.contents[broker_id]
    return retry_problem(content.data(), properties_of(content), fields_of(content))


def kept(world: ServiceBusWorld, broker_id: str) -> tuple[bytes, dict[str, Any], dict[str, Any]]:
    """Return what each copy must keep: the body, the sender's properties with their types, and the fields except the message's own id."""
    content = world._register.contents[broker_id]
    mine = {name: value for name, value in properties_of(content).items() if not name.startswith(OURS_IN_A_COPY)}
    fields = {name: value for name, value in fields_of(content).items() if name != "message_id"}
    return content.data(), mine, fields
