"""Decide about the circuit that limits the rate: pure functions over two states, `Closed` and `Open`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from recoverable._frozen import Frozen
from recoverable._ladder.backoff import chance
from recoverable._limits import NO_DELAY
from recoverable.headers import read_date, write_date

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal, TypeAlias

    from recoverable._rate_limit.settings import RateLimit

    Outcome: TypeAlias = Literal["succeeded", "failed", "probe failed", "probe released"]

LONGEST_WAIT = timedelta(minutes=15)
"""The longest delay of one message in SQS (Amazon SQS delay queues), and so the longest deferral on each platform."""

DEFAULT_LONGEST_WAIT = timedelta(minutes=5)
"""The longest deferral unless another is set: on SQS it costs as many invocations as 15 minutes without a grid would
(docs/internals/outages.md, the waves after an outage)."""

GRID = timedelta(seconds=10)
"""The longest step between two moments at which deferrals on SQS fall due, so that they come together and fill batches."""

STEPS_IN_A_WAIT = 4
"""The steps of the grid that fit at least into a deferral, so that short ones stay short."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)

DEFAULT_WAIT = timedelta(seconds=1)

SHORTEST_WAIT = timedelta(seconds=5)
"""The first deferrals: long enough that a message needs few of them, short enough for a short outage."""

LONGEST_PROBE_WAIT = timedelta(minutes=1)
"""The next probe comes at most this long after a recovery, even when no other message does."""

PROBE_SHARE = 10
"""A probe waits for this part (one tenth) of the outage's age: the end is found within a tenth of it, without a probe
each `wait`."""

LEASE = timedelta(seconds=30)
"""The time that other messages wait for a probe that does not end, such as one whose process died."""


class Closed(Frozen):
    """A closed circuit: all messages are attempted.

    Args:
        failures: how many attempts in a row have failed.
    """

    failures: int = 0


class Open(Frozen):
    """An open circuit: one message is attempted at a time.

    Args:
        since: when it opened.
        next_at: when the next attempt may start.
    """

    since: datetime
    next_at: datetime


Circuit: TypeAlias = Closed | Open
CLOSED = Closed()


class Snapshot(Frozen):
    """A circuit as a store had it when it was read.

    Args:
        circuit: the circuit.
        version: identifies this state of the store; None when it is unknown.
        switch: identifies the last change that opened or closed the circuit.
    """

    circuit: Circuit = CLOSED
    version: int | str | None = None
    switch: str = ""

    @property
    def open_since(self) -> datetime | None:
        """Return when the circuit opened; None while it is closed."""
        return self.circuit.since if isinstance(self.circuit, Open) else None


LIMITED_SINCE = "limited_since"
NEXT_ATTEMPT_AT = "next_attempt_at"
SWITCH = "switch"


def to_item(circuit: Circuit, switch: str) -> dict[str, str]:
    """Return the circuit as stores keep it: dates while it is open, none while it is closed.

    The count of failures is not shared.
    """
    if isinstance(circuit, Closed):
        return {SWITCH: switch}
    since, next_at = write_date(circuit.since), write_date(circuit.next_at)
    return {LIMITED_SINCE: since, NEXT_ATTEMPT_AT: next_at, SWITCH: switch}


def from_item(item: Mapping[str, Any], version: int | str | None) -> Snapshot:
    """Return the circuit that a store keeps. Unreadable state counts as closed."""
    texts = {name: value for name, value in item.items() if isinstance(value, str)}
    since, next_at = read_date(texts, LIMITED_SINCE), read_date(texts, NEXT_ATTEMPT_AT)
    return Snapshot(Open(since, next_at) if since and next_at else CLOSED, version, texts.get(SWITCH, ""))


def claim_probe(circuit: Open, limit: RateLimit, now: datetime) -> Open | None:
    """Return the circuit with a probe that starts now; None when none may start, because another one has not ended.

    A `next_at` further away than any claim can set it is invalid, and a probe may start.
    """
    longest = max(limit.wait, LEASE)
    if NO_DELAY < circuit.next_at - now <= longest:
        return None
    return Open(circuit.since, now + longest)


def transition(circuit: Circuit, outcome: Outcome, limit: RateLimit, now: datetime) -> Circuit:
    """Return the circuit after an attempt.

    Any success closes it, and the given number of failures in a row opens it.
    """
    if outcome == "succeeded":
        return CLOSED
    if isinstance(circuit, Open):
        if outcome == "failed":
            return circuit
        return Open(circuit.since, now + (limit.wait if outcome == "probe failed" else NO_DELAY))
    failures = circuit.failures + 1
    return Open(now, now + limit.wait) if failures >= limit.consecutive_failures else Closed(failures)


def may_defer(held_since: datetime | None, limit: RateLimit, now: datetime) -> bool:
    """True if a message has been held for less than `max_hold`.

    Return False for a date further than that in the future, which is invalid.
    """
    return (abs(now - held_since) if held_since else NO_DELAY) < limit.max_hold


def delay_while_open(circuit: Open, limit: RateLimit, message_id: str, now: datetime) -> timedelta:
    """Return how long a message waits.

    It is half to all of the outage's age, so that messages come back rarely and not all together.
    """
    age = now - circuit.since
    longest = min(max(age, limit.wait, SHORTEST_WAIT), max(limit.longest_wait, limit.wait))
    return longest * (1 - chance_of(message_id, age) / 2)


def on_grid(delay: timedelta, now: datetime) -> timedelta:
    """Return a delay that is over at the next moment of a grid, in steps of 1 to 10 s, so that messages come together.

    Lambda invokes a function for up to ten messages that are there at the same time.
    """
    step = max(min(GRID, delay / STEPS_IN_A_WAIT) // SECOND, 1) * SECOND
    until_next = -(now - EPOCH + delay) % step
    return delay + (until_next if delay + until_next <= LONGEST_WAIT else until_next - step)


def delay_of_probe(circuit: Open, limit: RateLimit, message_id: str, now: datetime) -> timedelta:
    """Return how long the probe itself waits after it failed.

    It finds the end of the outage when no other message comes.
    """
    age = now - circuit.since
    shortest = max(limit.wait, DEFAULT_WAIT)
    base = max(shortest, min(age / PROBE_SHARE, LONGEST_PROBE_WAIT))
    return min(base * (1 + chance_of(message_id, age) / 2), LONGEST_WAIT)


def chance_of(message_id: str, age: timedelta) -> float:
    """Return a deterministic fraction in [0, 1) from message id and outage age."""
    return chance(message_id, int(age.total_seconds()))
