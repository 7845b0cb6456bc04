"""Build the SQS request for a message that a test sends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recoverable_local.testing.json_body import to_json

Value = str | int | float | bytes


def to_request(
    body: object,
    attributes: Mapping[str, Value] | None,
    delay: float | None,
    group_id: str | None,
    deduplication_id: str | None,
) -> dict[str, Any]:
    """Return the parameters of SendMessage, without the queue's URL; see `SqsWorld.send`."""
    optional = {
        "MessageAttributes": {name: to_attribute(value) for name, value in (attributes or {}).items()},
        "DelaySeconds": None if delay is None else int(delay),
        "MessageGroupId": group_id,
        "MessageDeduplicationId": deduplication_id,
    }
    text = body if isinstance(body, str) else to_json(body)
    return {"MessageBody": text, **{name: value for name, value in optional.items() if value is not None}}


def to_attribute(value: Value) -> dict[str, Any]:
    """Return an attribute in the API's form."""
    match value:
        case bytes():
            return {"DataType": "Binary", "BinaryValue": value}
        case str():
            return {"DataType": "String", "StringValue": value}
        case _:
            return {"DataType": "Number", "StringValue": str(value)}
