"""A received message → the trigger's data and metadata, by the host's names and types. Pure.

The names are those of `ServiceBusTriggerBindingStrategy` (azure-sdk-for-net), but for the receiver, client and actions, of which the worker
gets nothing that could be used. A delivery is counted from 1 there, and from 0 in Python's SDK.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recoverable_local.functions_host.worker.rpc import Json, longs, written

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusReceivedMessage

NEVER = "9999-12-31T23:59:59.9999999"
"""When a message without a time to live expires: the last moment that .NET knows."""

_LAST_YEAR = 9999


def told_of(message: ServiceBusReceivedMessage, *, text: bool) -> dict[str, Any]:
    """The metadata of one message.

    Args:
        message: The message.
        text: Whether the trigger takes texts: the values of a JSON object then stand in for metadata of the same name.
    """
    row = _row(message)
    return overwritten(row, body_of(message)) if text else row


def told_of_many(messages: Sequence[ServiceBusReceivedMessage]) -> dict[str, Any]:
    """The metadata of a batch: an array for each name."""
    rows = [_row(message) for message in messages]
    arrays: dict[str, Any] = {f"{name}Array": [row[name] for row in rows] for name in rows[0]}
    arrays["SequenceNumberArray"] = longs(arrays["SequenceNumberArray"])
    arrays["TransactionPartitionKeyArray"] = arrays["PartitionKeyArray"]  # the extension's own slip
    return arrays


def data_of(message: ServiceBusReceivedMessage, *, text: bool) -> bytes | str:
    """What a function of one message gets.

    Raises:
        UnicodeDecodeError: It is to be a text, and is none.
    """
    body = body_of(message)
    return body.decode() if text else body


def body_of(message: ServiceBusReceivedMessage) -> bytes:
    """The body's bytes.

    Raises:
        ValueError: It is a value or a sequence of AMQP, which .NET's `ServiceBusReceivedMessage.Body` does not give.
    """
    if message.body_type.value != "data":
        raise ValueError(f"the body is an AMQP {message.body_type.value}; send it as data")
    return b"".join(message.body)


def _row(message: ServiceBusReceivedMessage) -> dict[str, Any]:
    enqueued, expires = message.enqueued_time_utc, message.expires_at_utc
    properties: dict[str, Any] = {
        _text(name): _value(value) for name, value in (message.application_properties or {}).items()
    }
    return {
        "DeliveryCount": (message.delivery_count or 0) + 1,
        "DeadLetterSource": message.dead_letter_source,
        "LockToken": str(message.lock_token or ""),
        "ExpiresAtUtc": _date(expires),
        "ExpiresAt": _date(expires, zone="+00:00"),
        "EnqueuedTimeUtc": _date(enqueued),
        "EnqueuedTime": _date(enqueued, zone="+00:00"),
        "MessageId": message.message_id,
        "ContentType": message.content_type,
        "ReplyTo": message.reply_to,
        "SequenceNumber": message.sequence_number,
        "To": message.to,
        "Subject": message.subject,
        "Label": message.subject,
        "CorrelationId": message.correlation_id,
        "ApplicationProperties": properties,
        "UserProperties": properties,
        "SessionId": message.session_id,
        "ReplyToSessionId": message.reply_to_session_id,
        "PartitionKey": message.partition_key,
        "TransactionPartitionKey": None,
    }


def overwritten(metadata: Mapping[str, Any], body: bytes) -> dict[str, Any]:
    """The metadata after `Utility.ApplyBindingData` (azure-functions-host), to which it is the same in which case a name is written."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return dict(metadata)  # what is no JSON says nothing
    if not isinstance(found, dict):
        return dict(metadata)
    changed = dict(metadata)
    known = {name.lower(): name for name in metadata}
    values: dict[str, Any] = found
    for name, value in values.items():
        if value is not None and not isinstance(value, list):
            changed[known.get(name.lower(), name)] = value if isinstance(value, dict) else _as_dotnet(value)
    return changed


def _as_dotnet(value: object) -> str:
    """A JSON value cast to a .NET string."""
    return str(value) if isinstance(value, str | bool) else json.dumps(value)


def _date(moment: datetime | None, zone: str = "") -> Json:
    """`DateTime` without a zone, `DateTimeOffset` with one, as Json.NET writes them."""
    ends = moment is not None and moment.year < _LAST_YEAR
    return Json((written(moment) if moment and ends else NEVER) + zone)


def _text(name: object) -> str:
    return name.decode(errors="replace") if isinstance(name, bytes) else str(name)


def _value(value: Any) -> Any:
    """A property's value; the SDK gives texts as bytes, and so does not tell them from bytes."""
    match value:
        case bytes():
            return _text_or_bytes(value)
        case list():
            return [_value(each) for each in value]
        case dict():
            return {_text(name): _value(each) for name, each in value.items()}
        case _:
            return value


def _text_or_bytes(value: bytes) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value
