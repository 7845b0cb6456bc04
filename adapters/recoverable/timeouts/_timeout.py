"""Define `Timeout`, a message that waits in a store, with its id and its stored form. Pure.

An id holds the due time and the shard, so that a timeout is found without an index.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from recoverable._frozen import Frozen, field
from recoverable._sqs.wire import HEADERS, headers_from

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

DIGITS = 16
"""Digits of a due time in microseconds: ids sort by due time until the year 2286."""

LATEST = EPOCH + timedelta(microseconds=10**DIGITS - 1)
"""The latest due time that an id can hold."""

VERSION = 1
"""The version of the rows that this package writes. It does not read rows of another version."""


class Unreadable(Exception):
    """Raised for a row that this version cannot read. Its text gives the reason and quotes no content."""


class Timeout(Frozen):
    """A message that waits until it is due.

    Args:
        id: holds its due time and shard, see `new_id`.
        to: the queue's URL, ARN or name.
        body: the body, as SQS takes it.
        attributes: the message's attributes as a client of SQS wants them; the headers are one of them.
        group_id: the message group, if it has one.
        endpoint: the endpoint that stored it.
        correlation: a text by which it can be cancelled, together with others.
    """

    id: str
    to: str
    body: str
    attributes: Mapping[str, Mapping[str, Any]] = field(default=MappingProxyType({}), kw_only=True)
    group_id: str | None = field(default=None, kw_only=True)
    endpoint: str = field(default="", kw_only=True)
    correlation: str = field(default="", kw_only=True)

    @property
    def location(self) -> Location:
        """Return its due time and shard."""
        location = parse_id(self.id)
        assert location is not None, self.id
        return location

    @property
    def due_at(self) -> datetime:
        """Return when it is due."""
        return from_microseconds(self.location.due)

    @property
    def headers(self) -> Mapping[str, str]:
        """Return the headers, without those inside a wrapper in the body."""
        return headers_from(self.attributes.get(HEADERS, {}).get("StringValue") or "{}")


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
    found = re.match(rf"([0-9]{{{DIGITS}}})-([0-9]{{1,{DIGITS - 1}}})-", timeout_id)
    return Location(int(found[1]), int(found[2])) if found else None


def dump_message(timeout: Timeout) -> str:
    """Return body, attributes and group as one JSON text."""
    attributes = {
        name: {key: b64encode(part).decode() if key == "BinaryValue" else part for key, part in value.items()}
        for name, value in timeout.attributes.items()
    }
    content = {"body": timeout.body, "attributes": attributes, "group": timeout.group_id}
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def load_timeout(timeout_id: str, fields: Mapping[str, Any], message: str) -> Timeout:
    """Return the timeout of a row.

    Args:
        timeout_id: its id.
        fields: the row's version, to, endpoint and correlation.
        message: the text from `dump_message`.

    Raises:
        Unreadable: the row has another version, or its content is not what this package writes.
    """
    if fields.get("version") != VERSION:
        raise Unreadable(
            f"it is of version {fields.get('version')!r}, and this package reads {VERSION}; deploy the newer one"
        )
    if parse_id(timeout_id) is None:
        raise Unreadable("its id says no due time in range")
    try:
        content = json.loads(message)
        group = content["group"]
        return Timeout(
            timeout_id,
            checked_text(fields["to"]),
            checked_text(content["body"]),
            attributes={checked_text(name): load_attribute(value) for name, value in content["attributes"].items()},
            group_id=None if group is None else checked_text(group),
            endpoint=fields.get("endpoint") or "",
            correlation=fields.get("correlation") or "",
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Unreadable(f"its content cannot be read ({type(error).__name__})") from None


def load_attribute(value: Mapping[str, object]) -> dict[str, Any]:
    """Return a message attribute as an SQS client takes it: its data type and its value.

    Raises:
        KeyError: it lacks one of them.
        TypeError: one is no text.
        ValueError: a binary value is not in base64, or a text cannot be sent.
    """
    parts = {key: checked_text(part) for key, part in value.items()}
    kind = "BinaryValue" if "BinaryValue" in parts else "StringValue"
    content: str | bytes = b64decode(parts[kind]) if kind == "BinaryValue" else parts[kind]
    return {**parts, "DataType": parts["DataType"], kind: content}


def checked_text(value: object) -> str:
    """Return the value after checking that it is a text that can be sent.

    Raises:
        TypeError: it is none.
        ValueError: it holds half a surrogate pair, which JSON can hold and nobody can send.
    """
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} instead of a text")
    value.encode()
    return value
