"""Draw hostile input and any settings, and retry the messages in a world of either cloud until all have ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from itertools import cycle
from typing import Any

from hypothesis import strategies as st

from proof.fault_names import Once
from proof.ladders import ERRORS
from proof.lineage import Origin
from recoverable import Delayed, Exponential, Failed, Immediate, Message, Recoverability
from recoverable_local.testing.engine.fault_plan import PossibleFaults
from recoverable_local.testing.timeline import What

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]), min_size=1, max_size=12)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)

COUNTS = st.sampled_from(["0", "1", "2", "9999", "10000", "10001", "-1", "٣", "1e3", "", "9" * 300])

DATES = st.sampled_from(
    [
        "2026-01-01 02:00:00:000000 Z",
        "2025-12-30 00:00:00:000000 Z",
        "9999-12-31 23:59:59:999999 Z",
        "0001-01-01 00:00:00:000000 Z",
        "2026-13-41 25:61:61:000000 Z",
    ]
)

NAMES = st.sampled_from(
    [
        "NServiceBus.MessageId",
        "NServiceBus.Retries",
        "NServiceBus.FLRetries",
        "NServiceBus.Retries.Timestamp",
        "NServiceBus.TimeSent",
        "NServiceBus.FailedQ",
        "NServiceBus.ExceptionInfo.StackTrace",
        "Recoverable.DueAt",
        "Recoverable.HeldSince",
        "Recoverable.FirstDelayedRetry",
        "S3BodyKey",
    ]
)

VALUES = COUNTS | DATES | TEXT | JSON

DURATIONS = st.integers(0, 2_400).map(lambda seconds: timedelta(seconds=seconds))

LADDERS = st.builds(
    Recoverability,
    st.builds(Immediate, st.integers(0, 2)),
    st.builds(
        Delayed,
        st.integers(0, 2),
        DURATIONS,
        backoff=st.none() | st.builds(Exponential, DURATIONS.filter(bool)),
        jitter=st.sampled_from([0.0, 0.5, 1.0]),
        max_total_time=st.none() | DURATIONS,
    ),
    st.builds(Failed, st.just(ERRORS), st.sampled_from([(), (KeyError,), (lambda error: 1 / 0,)])),
)

ENDS = st.lists(st.sampled_from([None, KeyError, ValueError, RecursionError]), min_size=1, max_size=6)
"""Errors of a handler's attempts, one after the other, and then again from the first; None for success."""


class Reader:
    """A handler that reads all of a message, ends as it was drawn, and records each attempt.

    Args:
        ends: the errors of its attempts; None for success.
        read: returns all that the handler reads of a message.
    """

    def __init__(self, ends: list[type[Exception] | None], read: Callable[[Message], tuple[object, ...]]) -> None:
        self._ends: Iterator[type[Exception] | None] = cycle(ends)
        self._read = read
        self.attempts: list[tuple[int, int]] = []
        self.failed = 0

    def __call__(self, message: Message) -> None:
        self.attempts.append((message.attempt, message.round))
        content = self._read(message)
        if (error := next(self._ends)) is not None:
            self.failed += 1
            raise error(*content)


@dataclass(frozen=True, kw_only=True)
class Platform:
    """The parts of these tests that differ by cloud.

    Args:
        name: the broker's name.
        messages: draws a message as the world's `send` takes it.
        endpoints: draws settings of an endpoint.
        read: returns all that a handler reads of a message.
        world: returns a world whose queue "jobs" the handler serves.
        traced: has each copy carry its origin.
        sent_ids: returns the broker's ids of all messages so far.
        origin_of: returns the origin of a broker message; None for what a sender sent.
        retry_problem: returns why ServiceControl could not import an error copy and send it back as it was.
        possible_faults: returns the types of the faults that can happen at a point.
        unexpected: the events that must not happen without a fault.
    """

    name: str
    messages: st.SearchStrategy[dict[str, Any]]
    endpoints: st.SearchStrategy[Mapping[str, Any]]
    read: Callable[[Message], tuple[object, ...]]
    world: Callable[[Reader, Recoverability, Mapping[str, Any]], Any]
    traced: Callable[[Any], AbstractContextManager[None]]
    sent_ids: Callable[[Any], set[str]]
    origin_of: Callable[[Any, str], Origin | None]
    retry_problem: Callable[[Any, str], str]
    possible_faults: PossibleFaults
    unexpected: tuple[What, ...]


def retried(
    platform: Platform,
    messages: list[dict[str, Any]],
    reader: Reader,
    ladder: Recoverability,
    endpoint: Mapping[str, Any],
    hook: Once | None = None,
) -> tuple[Any, set[str]]:
    """Send the messages, and run the world to its end; return it and the broker's ids of what was sent."""
    world = platform.world(reader, ladder, endpoint)
    for message in messages:
        world.send("jobs", **message)
    ids = platform.sent_ids(world)
    if hook is not None:
        world.ask_at_each_point(hook)
    with platform.traced(world):
        world.run()
    return world, ids


def ended_messages(platform: Platform, world: Any) -> set[str]:
    """Return the broker's ids, as sent, of the messages that were processed or are in the error queue."""
    entries = world._journal._entries
    succeeded = {entry.broker_id for entry in entries if (entry.what, entry.detail) == ("attempted", "succeeded")}
    given_up = {message.broker_id for message in world.queue(ERRORS)}
    return {original(platform, world, broker_id) for broker_id in succeeded | given_up}


def retry_problems(platform: Platform, world: Any) -> set[str]:
    """Return what is wrong with error copies, as ServiceControl reads them."""
    failed = [message for message in world.queue(ERRORS) if message.failed_queue]
    return {platform.retry_problem(world, message.broker_id) for message in failed} - {""}


def original(platform: Platform, world: Any, broker_id: str) -> str:
    """Return the broker's id of the message that the copy and all copies before it were made of."""
    origin = platform.origin_of(world, broker_id)
    return broker_id if origin is None else original(platform, world, origin.parent)
