"""Whatever senders write and users set: whole ladders end, nothing crashes, nothing is lost, and no count is negative."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof.hostile import ENDS, LADDERS
from proof.lineage import origin_from
from proof.sqs.hostile import ENDPOINTS, sent
from proof.sqs.lineage import traced
from proof.wrongs import WRONGS, Once
from recoverable import Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import SqsWorld
from recoverable_local.testing.aws.fault_points import possible_faults


class Reader:
    """A handler that reads all that a message has, ends as it is told, and notes how far each message has climbed."""

    def __init__(self, ends: list[type[Exception] | None]) -> None:
        self._ends: Iterator[type[Exception] | None] = cycle(ends)
        self.climbed: list[tuple[int, int]] = []
        self.succeeded: set[str] = set()

    def __call__(self, message: Message) -> None:
        self.climbed.append((message.attempt, message.round))
        if (error := next(self._ends)) is not None:
            raise error(message.text, dict(message.headers), message.sent_at)
        self.succeeded.add(message.native["messageId"])


def climb(messages: list[dict[str, Any]], endpoint: SqsEndpoint, hook: Once | None = None) -> tuple[SqsWorld, set[str]]:
    """The world when all is done, and the broker's ids of what was sent."""
    world = SqsWorld(most_invocations=3_000)
    world.serve("jobs", endpoint, recursive_loop="Allow")
    ids = {world.send("jobs", **message) for message in messages}
    if hook is not None:
        world.ask_at_each_point(hook)
    with traced():
        world.run()
    return world, ids


def original(world: SqsWorld, broker_id: str) -> str:
    """The broker's id of what a copy was made of in the end."""
    origin = origin_from(world._broker.all[broker_id][1].trace)
    return broker_id if origin is None else original(world, origin.parent)


def ended(world: SqsWorld, reader: Reader) -> set[str]:
    """The broker's ids of what was processed or is in the error queue."""
    given_up = {seen.broker_id for seen in world.queue("errors")}
    return {original(world, broker_id) for broker_id in given_up | reader.succeeded}


@pytest.mark.slow
@settings(max_examples=150)
@given(st.lists(sent(), min_size=1, max_size=4), LADDERS, ENDPOINTS, ENDS)
def test_hostile_messages_climb_to_an_end(
    messages: list[dict[str, Any]],
    ladder: Recoverability,
    set_to: Mapping[str, Any],
    ends: list[type[Exception] | None],
) -> None:
    reader = Reader(ends)

    world, ids = climb(messages, SqsEndpoint(reader, ladder, **set_to))

    assert world.queue("jobs") == []
    assert ended(world, reader) == ids
    assert [event for event in world.timeline() if event.what in ("invocation failed", "dead-lettered")] == []
    assert all(attempt >= 1 and round_ >= 0 for attempt, round_ in reader.climbed)


@pytest.mark.slow
@settings(max_examples=100)
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

    world, ids = climb(messages, SqsEndpoint(reader, ladder, **set_to), Once(wrong, nth, possible_faults))

    assert world.queue("jobs") == []
    assert ended(world, reader) == ids
    assert all(attempt >= 1 and round_ >= 0 for attempt, round_ in reader.climbed)
