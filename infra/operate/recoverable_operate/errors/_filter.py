"""Choose messages of an error queue by id, type, group, queue, time, or what their body says. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from recoverable_operate.errors._message import FailedMessage, group_of

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


@dataclass(frozen=True, slots=True)
class Where:
    """A condition on a JSON body.

    Args:
        path: names of members, and places in lists.
        value: what must be there: a text, or JSON.
    """

    path: tuple[str, ...]
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What a message must be to be chosen: one of each kind that is given.

    Args:
        ids: message ids, or the broker's.
        types: names of exception types, in full or their last part.
        groups: ids of groups.
        queues: queues where it failed, by address or name.
        since: the earliest time of the last failure.
        until: the latest.
        where: conditions on a JSON body, all of which must hold.
    """

    ids: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    where: tuple[Where, ...] = ()

    def matches(self, message: FailedMessage) -> bool:
        """True if the message is chosen."""
        return (
            (not self.ids or bool({message.id, message.broker_id} & set(self.ids)))
            and (not self.types or is_named(message.exception_type, self.types))
            and (not self.groups or group_of(message).id in self.groups)
            and (not self.queues or is_named(message.failed_queue, self.queues))
            and self._in_time(message.failed_at)
            and (not self.where or all_hold(self.where, message.body))
        )

    def _in_time(self, failed_at: datetime | None) -> bool:
        if self.since is None and self.until is None:
            return True
        if failed_at is None:
            return False
        return (self.since is None or failed_at >= self.since) and (self.until is None or failed_at <= self.until)


def is_named(name: str | None, wanted: tuple[str, ...]) -> bool:
    """True if the name is one of these, in full or by its last part."""
    return name is not None and any(name == each or re.split("[.:/]", name)[-1] == each for each in wanted)


def all_hold(where: tuple[Where, ...], body: bytes | None) -> bool:
    """True if the body is JSON and all conditions hold for it."""
    try:
        content = json.loads(body or b"")
    except (ValueError, RecursionError):
        return False
    return all(holds(each, content) for each in where)


def holds(where: Where, content: Any) -> bool:
    """True if the value at the condition's path is the condition's value."""
    for step in where.path:
        if isinstance(content, dict) and step in content:
            content = content[step]
        elif isinstance(content, list) and step.isascii() and step.isdigit() and int(step) < len(content):
            content = content[int(step)]
        else:
            return False
    return content == where.value if isinstance(content, str) else is_same_json(content, where.value)


def is_same_json(content: Any, text: str) -> bool:
    """True if the text is the same value as JSON; 1 is 1.0, but not true."""
    try:
        wanted = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return bool(content == wanted) and isinstance(content, bool) == isinstance(wanted, bool)


def parse_where(text: str) -> Where:
    """Return the condition of `json.path=value`; a place in a list is a number: `items.0.sku` or `items[0].sku`.

    Raises:
        ValueError: there is no path or no equals sign.
    """
    path, equals, value = text.partition("=")
    steps = tuple(re.sub(r"\[(\d+)\]", r".\1", path).removeprefix("$").strip(".").split("."))
    if not equals or not all(steps):
        raise ValueError(
            f"{text!r} is no condition; write a path and a value, such as customer.id=42 or items.0.sku=A7"
        )
    return Where(steps, value)


def parse_time(text: str, now: datetime) -> datetime:
    """Return the time of an ISO date (UTC without a zone), or of a duration before now such as `90m`.

    Raises:
        ValueError: it is neither.
    """
    try:
        if found := re.fullmatch(r"(\d{1,9})([smhd])", text):
            return now - timedelta(**{UNITS[found[2]]: int(found[1])})
        time = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is no time; write 2026-11-22T14:30 (UTC), or 90m, 6h, 2d for so long ago") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
