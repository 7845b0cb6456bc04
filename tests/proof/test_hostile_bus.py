"""Whatever senders write to Service Bus, hosts tell and users set: whole ladders end, nothing crashes, nothing is lost, and no count is negative."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from azure.endpoints import ended, endpoint
from azure.recording import RecordingClient
from azure.triggers import trigger_message, trigger_messages
from proof.hostile import ENDS, LADDERS
from proof.lineage import origin_from
from proof.service_bus.hostile import ENDPOINTS, TOLD, TOLD_OF_ONE_OF_MANY, sent
from proof.service_bus.lineage import TRACE, traced
from proof.wrongs import WRONGS, Once
from recoverable import Message, Recoverability
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import ServiceBusWorld
from recoverable_local.testing.azure.fault_points import possible_faults


class Reader:
    """A handler that reads all that a message has, ends as it is told, and notes how far each message has climbed."""

    def __init__(self, ends: list[type[Exception] | None]) -> None:
        self._ends: Iterator[type[Exception] | None] = cycle(ends)
        self.climbed: list[tuple[int, int]] = []
        self.failed = 0

    def __call__(self, message: Message) -> None:
        self.climbed.append((message.attempt, message.round))
        read = message.body, dict(message.headers), message.sent_at, message.group_id
        if (error := next(self._ends)) is not None:
            self.failed += 1
            raise error(*read)


def climb(
    messages: list[dict[str, Any]], served: ServiceBusEndpoint[Any], hook: Once | None = None
) -> tuple[ServiceBusWorld, set[str]]:
    """The world when all is done, and the broker's ids of what was sent."""
    world = ServiceBusWorld(most_invocations=3_000)
    world.serve("jobs", served)
    for message in messages:
        world.send("jobs", **message)
    ids = set(world._register.contents)
    if hook is not None:
        world.ask_at_each_point(hook)
    with traced(world):
        world.run()
    return world, ids


def ended_well(world: ServiceBusWorld) -> set[str]:
    """The broker's ids of what was processed or is in the error queue, as they were sent."""
    entries = world._journal._entries
    done = {entry.broker_id for entry in entries if (entry.what, entry.detail) == ("attempted", "succeeded")}
    return {original(world, one) for one in done | {seen.broker_id for seen in world.queue("errors")}}


def original(world: ServiceBusWorld, broker_id: str) -> str:
    """The broker's id of what a copy was made of in the end."""
    trace = world._register.contents[broker_id].application_properties().get(TRACE)
    origin = origin_from(trace)
    return broker_id if origin is None else original(world, origin.parent)


def served(reader: Reader, ladder: Recoverability, set_to: Mapping[str, Any]) -> ServiceBusEndpoint[Any]:
    return ServiceBusEndpoint(reader, ladder, queue="jobs", connection="ServiceBus", name="jobs", **set_to)


@pytest.mark.slow
@settings(max_examples=100)
@given(st.lists(sent(), min_size=1, max_size=4), LADDERS, ENDPOINTS, ENDS)
def test_hostile_messages_climb_to_an_end(
    messages: list[dict[str, Any]],
    ladder: Recoverability,
    set_to: Mapping[str, Any],
    ends: list[type[Exception] | None],
) -> None:
    reader = Reader(ends)
    world, ids = climb(messages, served(reader, ladder, set_to))
    assert world.queue("jobs") == []
    assert ended_well(world) == ids
    assert [event for event in world.timeline() if event.what == "dead-lettered"] == []
    assert all(attempt >= 1 and round_ >= 0 for attempt, round_ in reader.climbed)


@pytest.mark.slow
@settings(max_examples=60)
@given(
    st.lists(sent(), min_size=1, max_size=3),
    LADDERS,
    ENDPOINTS,
    ENDS,
    st.sampled_from(list(WRONGS)),
    st.integers(1, 25),
)
def test_hostile_messages_survive_a_fault(
    messages: list[dict[str, Any]],
    ladder: Recoverability,
    set_to: Mapping[str, Any],
    ends: list[type[Exception] | None],
    wrong: str,
    nth: int,
) -> None:
    reader = Reader(ends)
    world, ids = climb(messages, served(reader, ladder, set_to), Once(wrong, nth, possible_faults))
    assert world.queue("jobs") == []
    assert ended_well(world) == ids
    assert all(attempt >= 1 and round_ >= 0 for attempt, round_ in reader.climbed)


@pytest.mark.slow
@settings(max_examples=500)
@given(TOLD, ENDS)
def test_what_a_host_tells_of_a_message_loses_none(told: dict[str, Any], ends: list[type[Exception] | None]) -> None:
    reader, client = Reader(ends), RecordingClient()
    error = ended(endpoint(reader, client=client), trigger_message(**told))
    assert (error is None) == (reader.failed <= len(client.sent))
    assert error is None or isinstance(error, KeyError | ValueError | RecursionError)
    assert all(attempt >= 1 and round_ >= 0 for attempt, round_ in reader.climbed)


@pytest.mark.slow
@settings(max_examples=500)
@given(st.lists(TOLD_OF_ONE_OF_MANY, min_size=1, max_size=5), ENDS)
def test_what_a_host_tells_of_a_batch_loses_none(
    told: list[dict[str, Any]], ends: list[type[Exception] | None]
) -> None:
    reader, client = Reader(ends), RecordingClient()
    error = ended(endpoint(reader, client=client, batch=True), trigger_messages(*told))
    assert error is None
    assert len(reader.climbed) - reader.failed + len(client.sent) == len(told)
    assert all(attempt >= 1 and round_ >= 0 for attempt, round_ in reader.climbed)
