"""Convert a received message into the trigger's data and metadata, with the host's names and types. Pure.

The names are those of `ServiceBusTriggerBindingStrategy` (azure-sdk-for-net), without the receiver, client and actions, which a worker
cannot use. The host counts deliveries from 1, Python's SDK from 0.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recoverable_local.functions_host.extension.timestamps import timestamp_text
from recoverable_local.functions_host.worker.rpc import Json, format_time, longs
from recoverable_operate.errors import Foreign, MarkedBytes, MarkedInt, RawDecimal, decimal_text, id_text

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusReceivedMessage

NEVER = "9999-12-31T23:59:59.9999999"
"""The expiry of a message without a time to live: .NET's `DateTime.MaxValue`."""

_LAST_YEAR = 9999


def message_metadata(message: ServiceBusReceivedMessage, *, text: bool) -> dict[str, Any]:
    """Return the trigger metadata of one message.

    Args:
        message: The message.
        text: True if the trigger takes text: the values of a JSON object in the body then replace metadata of the same name.
    """
    metadata = _metadata(message)
    return apply_binding_data(metadata, body_of(message)) if text else metadata


def batch_metadata(messages: Sequence[ServiceBusReceivedMessage]) -> dict[str, Any]:
    """Return the trigger metadata of a batch: an array for each name."""
    each = [_metadata(message) for message in messages]
    arrays: dict[str, Any] = {f"{name}Array": [metadata[name] for metadata in each] for name in each[0]}
    arrays["SequenceNumberArray"] = longs(arrays["SequenceNumberArray"])
    arrays["TransactionPartitionKeyArray"] = arrays["PartitionKeyArray"]  # as the extension has it, by mistake
    return arrays


def data_of(message: ServiceBusReceivedMessage, *, text: bool) -> bytes | str:
    """Return the body as a function of one message gets it.

    Raises:
        UnicodeDecodeError: The function takes text, and the body is not UTF-8.
    """
    body = body_of(message)
    return body.decode() if text else body


def body_of(message: ServiceBusReceivedMessage) -> bytes:
    """Return the body's bytes; none for a message without a body.

    Raises:
        ValueError: The body is an AMQP value or sequence, for which .NET's `ServiceBusReceivedMessage.Body` raises.
    """
    if message.body_type.value == "data":
        return b"".join(message.body)
    if message.body is None:
        return b""
    raise ValueError(f"the body is an AMQP {message.body_type.value}; send it as data")


def _metadata(message: ServiceBusReceivedMessage) -> dict[str, Any]:
    enqueued, expires = message.enqueued_time_utc, message.expires_at_utc
    properties = {} if message.application_properties is None else _value(message.application_properties)
    return {
        "DeliveryCount": (message.delivery_count or 0) + 1,
        "DeadLetterSource": message.dead_letter_source,
        "LockToken": str(message.lock_token or ""),
        "ExpiresAtUtc": _date(expires),
        "ExpiresAt": _date(expires, zone="+00:00"),
        "EnqueuedTimeUtc": _date(enqueued),
        "EnqueuedTime": _date(enqueued, zone="+00:00"),
        "MessageId": id_text(message.message_id),
        "ContentType": message.content_type,
        "ReplyTo": message.reply_to,
        "SequenceNumber": message.sequence_number,
        "To": message.to,
        "Subject": message.subject,
        "Label": message.subject,
        "CorrelationId": id_text(message.correlation_id),
        "ApplicationProperties": properties,
        "UserProperties": properties,
        "SessionId": message.session_id,
        "ReplyToSessionId": message.reply_to_session_id,
        "PartitionKey": message.partition_key,
        "TransactionPartitionKey": None,
    }


def apply_binding_data(metadata: Mapping[str, Any], body: bytes) -> dict[str, Any]:
    """Replace metadata by the values of a JSON object in the body; names match in any case.

    Source: `Utility.ApplyBindingData` (azure-functions-host).
    """
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return dict(metadata)  # a body that is no JSON replaces nothing
    if not isinstance(found, dict):
        return dict(metadata)
    changed = dict(metadata)
    names = {name.lower(): name for name in metadata}
    values: dict[str, Any] = found
    for name, value in values.items():
        if value is not None and not isinstance(value, list):
            changed[names.get(name.lower(), name)] = value if isinstance(value, dict) else _as_dotnet(value)
    return changed


def _as_dotnet(value: object) -> str:
    """Convert a JSON value to text as a cast to a .NET string does."""
    return str(value) if isinstance(value, str | bool) else json.dumps(value)


def _date(moment: datetime | None, zone: str = "") -> Json:
    """Format a time as Json.NET does: a `DateTime` without a zone, a `DateTimeOffset` with one."""
    ends = moment is not None and moment.year < _LAST_YEAR
    return Json((format_time(moment) if moment and ends else NEVER) + zone)


def _text(name: object) -> str:
    return name.decode(errors="replace") if isinstance(name, bytes) else str(name)


def _value(value: Any) -> Any:
    """Convert a property's value. The SDK returns strings as bytes, so bytes that are UTF-8 become a string."""
    match value:
        case Foreign():
            raise ValueError("one of its application properties cannot be decoded by azure-servicebus")
        case bytes():
            return _text_or_bytes(value)
        case MarkedInt(amqp_type="TIMESTAMP"):
            return timestamp_text(value)
        case RawDecimal():
            return Json(float(decimal_text(value)))
        case list():
            return [_value(each) for each in value]
        case dict():
            return {_text(name): _value(each) for name, each in value.items()}
        case _:
            return value


def _text_or_bytes(value: bytes) -> str | bytes:
    is_char = isinstance(value, MarkedBytes) and value.amqp_type == "CHAR"
    try:
        return value.decode("utf-32-be" if is_char else "utf-8")
    except UnicodeDecodeError:
        return value
