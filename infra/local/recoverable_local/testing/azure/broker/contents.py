"""Convert the content of a broker message to the forms of the SDK and of tests."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime
from typing import Any

from recoverable_local.functions_host.extension.timestamps import timestamp_text
from recoverable_local.service_bus.amqp.types import Timestamp
from recoverable_local.service_bus.broker.holding.content import Content

FIELDS = (
    "message_id",
    "to",
    "subject",
    "reply_to",
    "correlation_id",
    "content_type",
    "session_id",
    "reply_to_session_id",
)
"""The fields that a sender sets."""


def fields_of(content: Content) -> dict[str, Any]:
    """Return the fields that are set."""
    values = {name: content.value_of(name) for name in FIELDS}
    return {name: value for name, value in values.items() if value is not None}


def properties_of(content: Content) -> dict[str, Any]:
    """Return the application properties, in types that JSON has."""
    return {name: plain(value) for name, value in content.application_properties().items()}


def plain(value: Any) -> Any:
    """Convert a property to a type that JSON has."""
    match value:
        case bytes():
            return b64encode(value).decode()
        case Timestamp():
            return timestamp_text(value)
        case str() | bool() | int() | float() | None:
            return value
        case _:
            return str(value)


def moment(seconds: float) -> datetime:
    """Convert seconds since 1970 to a date."""
    return datetime.fromtimestamp(seconds, UTC)
