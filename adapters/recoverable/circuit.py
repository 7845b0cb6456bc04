"""The circuit that limits the rate: pure functions over two states, `Normal` and `Limited`."""

from __future__ import annotations

from datetime import timedelta

from .frozen import Frozen
from .headers import read_date, write_date
from .limits import NO_DELAY
from .rate_limit import DEFAULT_WAIT, LONGEST_WAIT

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any, Literal, TypeAlias

    from .rate_limit import RateLimit

    Outcome: TypeAlias = Literal["succeeded", "failed", "probe failed", "probe gave up"]

SHORTEST_WAIT = timedelta(seconds=5)
"""The first deferrals: long enough not to pay for many of each message, short enough to be forgotten after a blink."""

LONGEST_PROBE_WAIT = timedelta(minutes=1)
"""How long at most after a recovery the next probe comes, though no other message does."""

PROBE_SHARE = 10
"""A probe waits for this part of the outage, so that finding the end takes a tenth of it and not a probe in each `wait` for hours."""

LEASE = timedelta(seconds=30)
"""How long a probe keeps the others waiting unless it ends sooner: one that died is not waited for any longer."""


class Normal(Frozen):
    """All messages are attempted.

    Args:
        failures: how many attempts in a row have failed.
    """

    __slots__ = ("failures",)
    failures: int

    def __init__(self, failures: int = 0) -> None:
        self._assign(failures=failures)


class Limited(Frozen):
    """One message is attempted at a time.

    Args:
        since: when limiting started.
        next_at: no attempt starts before.
    """

    __slots__ = ("next_at", "since")
    since: datetime
    next_at: datetime

    def __init__(self, since: datetime, next_at: datetime) -> None:
        self._assign(since=since, next_at=next_at)


Circuit: TypeAlias = Normal | Limited
NORMAL = Normal()


class Seen(Frozen):
    """The circuit as a store had it.

    Args:
        circuit: the circuit.
        version: what tells this state of the store from all others; None when it is not known.
        switch: what tells the change that last started or ended limiting from all others.
    """

    __slots__ = ("circuit", "switch", "version")
    circuit: Circuit
    version: int | str | None
    switch: str

    def __init__(self, circuit: Circuit = NORMAL, version: int | str | None = None, switch: str = "") -> None:
        self._assign(circuit=circuit, version=version, switch=switch)


LIMITED_SINCE = "limited_since"
NEXT_ATTEMPT_AT = "next_attempt_at"
SWITCH = "switch"


def written(circuit: Circuit, switch: str) -> dict[str, str]:
    """The circuit as stores keep it: dates while it is limited, none while it is not. Failures in a row are not shared."""
    if isinstance(circuit, Normal):
        return {SWITCH: switch}
    since, next_at = write_date(circuit.since), write_date(circuit.next_at)
    return {LIMITED_SINCE: since, NEXT_ATTEMPT_AT: next_at, SWITCH: switch}


def read(kept: Mapping[str, Any], version: int | str | None) -> Seen:
    """What a store keeps; a circuit that cannot be read limits nobody."""
    texts = {name: value for name, value in kept.items() if isinstance(value, str)}
    since, next_at = read_date(texts, LIMITED_SINCE), read_date(texts, NEXT_ATTEMPT_AT)
    return Seen(Limited(since, next_at) if since and next_at else NORMAL, version, texts.get(SWITCH, ""))


def claimed(circuit: Limited, limit: RateLimit, now: datetime) -> Limited | None:
    """The circuit while an attempt runs that starts now, in nobody else's turn; None when none may start.

    A turn further off than any claim reaches is a broken one, and free.
    """
    longest = max(limit.wait, LEASE)
    if NO_DELAY < circuit.next_at - now <= longest:
        return None
    return Limited(circuit.since, now + longest)


def after(circuit: Circuit, outcome: Outcome, limit: RateLimit, now: datetime) -> Circuit:
    """The circuit after an attempt: any success ends limiting, and the given number of failures in a row starts it; a probe was the turn of its own."""
    if outcome == "succeeded":
        return NORMAL
    if isinstance(circuit, Limited):
        if outcome == "failed":
            return circuit
        return Limited(circuit.since, now + (limit.wait if outcome == "probe failed" else NO_DELAY))
    failures = circuit.failures + 1
    return Limited(now, now + limit.wait) if failures >= limit.consecutive_failures else Normal(failures)


def may_hold(held_since: datetime | None, limit: RateLimit, now: datetime) -> bool:
    """Whether a message may be held still; since a date that no clock of ours wrote, it may not."""
    return (abs(now - held_since) if held_since else NO_DELAY) < limit.max_hold


def hold_for(circuit: Limited, limit: RateLimit, message_id: str, now: datetime) -> timedelta:
    """How long a message waits: half to all of the outage so far, so that waves thin out and come back spread."""
    age = now - circuit.since
    longest = min(max(age, limit.wait, SHORTEST_WAIT), LONGEST_WAIT)
    return longest * (1 - chance_of(message_id, age) / 2)


def probe_again_after(circuit: Limited, limit: RateLimit, message_id: str, now: datetime) -> timedelta:
    """How long the probe itself waits after it failed: it is the message that finds the end when no other comes."""
    age = now - circuit.since
    shortest = max(limit.wait, DEFAULT_WAIT)
    base = max(shortest, min(age / PROBE_SHARE, LONGEST_PROBE_WAIT))
    return min(base * (1 + chance_of(message_id, age) / 2), LONGEST_WAIT)


def chance_of(message_id: str, age: timedelta) -> float:
    """A part of one that differs by message and over time, yet is the same for the same."""
    from .backoff import chance  # noqa: PLC0415  # hashlib, which only who waits should pay for

    return chance(message_id, int(age.total_seconds()))
