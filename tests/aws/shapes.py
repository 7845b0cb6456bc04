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
