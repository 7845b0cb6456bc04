"""Bodies and records as NServiceBus.AmazonSQS writes them, and what is read from one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from recoverable._sqs.wire import Wire

ID = "NServiceBus.MessageId"
TYPES = "NServiceBus.EnclosedMessageTypes"
CONTROL = "NServiceBus.ControlMessage"
FOLDED = "Recoverable.Attributes"


def read(wire: Wire) -> tuple[object, dict[str, str], dict[str, Any]]:
    """Return body, headers and attributes."""
    return wire.body, wire.headers, wire.attributes


def wrapped(headers: Mapping[str, object], body: object = "aGVsbG8=", **more: object) -> str:
    """Return a body as NServiceBus.AmazonSQS wraps it."""
    return json.dumps({"Body": body, "S3BodyKey": None, "Headers": headers, **more})


def stored_by_nservicebus(key: str, *, wraps: bool) -> dict[str, Any]:
    """Return a message whose body NServiceBus put into S3, as `send_message` takes it.

    Args:
        key: where.
        wraps: True for its wrapper; False for headers in an attribute.
    """
    if wraps:
        return {"body": wrapped({ID: "7"}, "", S3BodyKey=key)}
    headers = {"DataType": "String", "StringValue": json.dumps({ID: "7"})}
    attributes = {"NServiceBus.AmazonSQS.Headers": headers, "S3BodyKey": {"DataType": "String", "StringValue": key}}
    return {"body": "empty message", "attributes": attributes}
