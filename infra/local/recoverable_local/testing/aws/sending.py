"""A message as a test sends it, in the API's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recoverable_local.testing.written import as_json

Value = str | int | float | bytes


def request(
    body: object,
    attributes: Mapping[str, Value] | None,
    delay: float | None,
    group_id: str | None,
    deduplication_id: str | None,
) -> dict[str, Any]:
    """What SendMessage gets, beside the queue's URL; see `SqsWorld.send`."""
    optional = {
        "MessageAttributes": {name: attribute(value) for name, value in (attributes or {}).items()},
        "DelaySeconds": None if delay is None else int(delay),
        "MessageGroupId": group_id,
        "MessageDeduplicationId": deduplication_id,
    }
    text = body if isinstance(body, str) else as_json(body)
    return {"MessageBody": text, **{name: value for name, value in optional.items() if value is not None}}


def attribute(value: Value) -> dict[str, Any]:
    """An attribute in the API's words."""
    match value:
        case bytes():
            return {"DataType": "Binary", "BinaryValue": value}
        case str():
            return {"DataType": "String", "StringValue": value}
        case _:
            return {"DataType": "Number", "StringValue": str(value)}
