"""Convert a value of the host into `TypedData`, the form in which the worker gets it. Pure.

The rules are those of `GrpcMessageConversionExtensions.ToRpc` (azure-functions-host): strings and bytes stay as they are; arrays of strings,
bytes and long integers have kinds of their own; everything else becomes JSON. Empty strings are dropped from an array, unless the worker
asks for them, which Python's worker does not.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple


class Typed(NamedTuple):
    """A `TypedData`.

    Args:
        kind: The field that is set: `string`, `bytes`, `json`, or `collection_` with `string`, `bytes` or `sint64`.
        value: The field's value.
    """

    kind: str
    value: str | bytes | Sequence[str] | Sequence[bytes] | Sequence[int]


@dataclass(frozen=True, slots=True)
class Json:
    """A value to send as JSON, even if it is a string."""

    value: Any


def to_rpc(value: Any) -> Typed:
    """Convert a value into the form in which the worker gets it."""
    match value:
        case Typed():
            return value
        case str():
            return Typed("string", value)
        case bytes():
            return Typed("bytes", value)
        case [*items] if items and all(isinstance(item, str | None) for item in items):
            return Typed("collection_string", [item for item in items if item])
        case [*items] if items and all(isinstance(item, bytes) for item in items):
            return Typed("collection_bytes", items)
        case _:
            return Typed("json", json.dumps(value, default=as_json, separators=(",", ":")))


def to_metadata(values: Mapping[str, Any]) -> dict[str, Typed]:
    """Convert trigger metadata; values that are None are left out."""
    return {name: to_rpc(value) for name, value in values.items() if value is not None}


def longs(values: Sequence[int | None]) -> Typed:
    """Convert an array of 64-bit integers, for which the host does not use JSON."""
    return Typed("collection_sint64", [value or 0 for value in values])


def as_json(value: Any) -> Any:
    """Convert a value that JSON does not have, as Json.NET does: bytes to base64, the rest to text."""
    match value:
        case Json(inner):
            return inner
        case datetime():
            return format_time(value) + "Z"
        case bytes():
            return b64encode(value).decode()
        case _:
            return str(value)


def format_time(moment: datetime) -> str:
    """Format a time in UTC as .NET does, without the zone and without trailing zeros of the fraction."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    text = aware.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
    return text.rstrip("0").rstrip(".")
