"""A value of the host → `TypedData`, the form in which the worker gets it: pure.

Taken from `GrpcMessageConversionExtensions.ToRpc` (azure-functions-host): a text is a text and bytes are bytes; arrays of texts, bytes and
long integers have kinds of their own; all else is JSON. An array of texts loses those that are empty, unless the worker asks for them,
which Python's does not.
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
        value: What it holds.
    """

    kind: str
    value: str | bytes | Sequence[str] | Sequence[bytes] | Sequence[int]


@dataclass(frozen=True, slots=True)
class Json:
    """A value that goes as JSON, even if it is a text."""

    value: Any


def to_rpc(value: Any) -> Typed:
    """The value as the worker gets it."""
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
    """Trigger metadata; what is null is left out."""
    return {name: to_rpc(value) for name, value in values.items() if value is not None}


def longs(values: Sequence[int | None]) -> Typed:
    """An array of 64-bit integers, which JSON is not used for."""
    return Typed("collection_sint64", [value or 0 for value in values])


def as_json(value: Any) -> Any:
    """What JSON has no form for, as Json.NET writes it: bytes in base64, and the rest as text."""
    match value:
        case Json(inner):
            return inner
        case datetime():
            return written(value) + "Z"
        case bytes():
            return b64encode(value).decode()
        case _:
            return str(value)


def written(moment: datetime) -> str:
    """A moment as .NET writes it, but for its zone: UTC, and no more digits of a second than there are."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    text = aware.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
    return text.rstrip("0").rstrip(".")
