"""Make and parse the ids of timeouts: an id holds its due time and its shard, so that a timeout is found without an index. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from recoverable._frozen import Frozen

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

DIGITS = 16
"""Digits of a due time in microseconds: ids sort by due time until the year 2286."""

LATEST = EPOCH + timedelta(microseconds=10**DIGITS - 1)
"""The latest due time that an id can hold."""

PARTS = 3


class Location(Frozen):
    """The due time and shard of a timeout.

    Args:
        due: when it is due, in microseconds since 1970.
        shard: its shard's number.
    """

    due: int
    shard: int


def to_microseconds(moment: datetime) -> int:
    """Return a moment in microseconds since 1970."""
    return (moment - EPOCH) // MICROSECOND


def from_microseconds(number: int) -> datetime:
    """Return the moment that is this many microseconds after 1970."""
    return EPOCH + number * MICROSECOND


def new_id(due_at: datetime, token: str, shards: int) -> str:
    """Return the id of a new timeout.

    Args:
        due_at: when it is due, from 1970 to 2286.
        token: hexadecimal digits that make the id unique; random, unless the timeout has a key.
        shards: how many shards the store has.
    """
    return f"{to_microseconds(due_at):0{DIGITS}}-{int(token, 16) % shards}-{token}"


def parse_id(timeout_id: str) -> Location | None:
    """Return the location that an id holds; None when it is no id of a timeout."""
    due, *rest = timeout_id.split("-", PARTS - 1)
    if len(rest) != PARTS - 1 or len(due) != DIGITS:
        return None
    shard = rest[0]
    if not (due + shard).isascii() or not (due.isdigit() and shard.isdigit() and len(shard) < DIGITS):
        return None
    return Location(int(due), int(shard))
