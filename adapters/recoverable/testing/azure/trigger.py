"""What the Functions host hands to a function's worker for messages: the trigger's data and metadata, names and types as the host has them.

Read in azure-sdk-for-net (`ServiceBusTriggerBindingStrategy`) and azure-functions-host (`GrpcMessageConversionExtensions`, `Utility.ApplyBindingData`).
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from azure.functions.meta import Datum  # noqa: TID251  # the kit may
from azure.functions.servicebus import ServiceBusMessageInConverter  # noqa: TID251  # the kit may

from recoverable.local.service_bus.amqp.decoding import decode
from recoverable.local.service_bus.broker.content import Content
from recoverable.local.service_bus.broker.messages import Message

NEVER = datetime.max.replace(tzinfo=UTC)
"""When a message expires that has no time to live."""

FIELDS = {
    "ContentType": "content_type",
    "CorrelationId": "correlation_id",
    "Label": "subject",
    "MessageId": "message_id",
    "ReplyTo": "reply_to",
    "ReplyToSessionId": "reply_to_session_id",
    "SessionId": "session_id",
    "Subject": "subject",
    "To": "to",
}
"""What the host calls the fields of a message."""

ANNOTATIONS = {"DeadLetterSource": "x-opt-deadletter-source", "PartitionKey": "x-opt-partition-key"}
"""What it calls the annotations that it tells."""


def decoded(messages: Sequence[Message], *, binary: bool, many: bool) -> Any:
    """The trigger's argument, decoded by azure-functions as in its worker.

    Args:
        messages: one, or as many as there are in the batch.
        binary: whether the trigger asks for binary data; a JSON body otherwise overwrites the metadata.
        many: whether the trigger's cardinality is many.
    """
    data, metadata = in_batch(messages, binary=binary) if many else alone(messages[0], binary=binary)
    return ServiceBusMessageInConverter.decode(data, trigger_metadata=metadata)


def alone(message: Message, *, binary: bool) -> tuple[Datum, dict[str, Datum]]:
    """Data and metadata of one message; what it has not, is not told."""
    body = message.content.data()
    metadata = {name: datum(value) for name, value in told(message).items() if value is not None}
    if binary:
        return Datum(body, "bytes"), metadata
    text = body.decode(errors="replace")
    overwrite(metadata, text)
    return Datum(text, "string"), metadata


def in_batch(messages: Sequence[Message], *, binary: bool) -> tuple[Datum, dict[str, Datum]]:
    """Data and metadata of a batch: arrays, of which those of text leave out what is empty."""
    rows = [told(message) for message in messages]
    metadata = {f"{name}Array": array([row[name] for row in rows]) for name in rows[0]}
    bodies = [message.content.data() for message in messages]
    if binary:
        return Datum(SimpleNamespace(bytes=bodies), "collection_bytes"), metadata
    lines = [body.decode(errors="replace") for body in bodies]
    return Datum(SimpleNamespace(string=lines), "collection_string"), metadata


def told(message: Message) -> dict[str, Any]:
    """What the host tells of a message; it counts deliveries from 1, where the wire counts failed ones."""
    content = message.content
    properties = properties_of(content)
    enqueued = moment(message.enqueued_at)
    expires = NEVER if message.expires_at is None else moment(message.expires_at)
    return {
        **{name: content.value_of(field) for name, field in FIELDS.items()},
        **{name: annotation(content, key) for name, key in ANNOTATIONS.items()},
        "ApplicationProperties": properties,
        "DeliveryCount": message.delivery_count + 1,
        "EnqueuedTime": enqueued,
        "EnqueuedTimeUtc": enqueued,
        "ExpiresAt": expires,
        "ExpiresAtUtc": expires,
        "LockToken": str(message.lock.token) if message.lock else None,
        "SequenceNumber": message.sequence_number,
        "UserProperties": properties,
    }


def annotation(content: Content, key: str) -> Any:
    """A message annotation; None when it has none of that name."""
    return decode(content.annotations[key])[0] if key in content.annotations else None


def datum(value: Any) -> Datum:
    """A value as the host sends it: a text as text, everything else as JSON."""
    return Datum(value, "string") if isinstance(value, str) else Datum(json.dumps(written(value)), "json")


def array(values: list[Any]) -> Datum:
    """The values of a batch: of texts only those that are not empty, of everything else all, as JSON."""
    if all(isinstance(value, str | None) for value in values):
        return Datum(SimpleNamespace(string=[value for value in values if value]), "collection_string")
    return Datum(json.dumps([written(value) for value in values]), "json")


def overwrite(metadata: dict[str, Datum], text: str) -> None:
    """Let the properties of a JSON body take the places of metadata, whose case does not matter; arrays and nulls take none."""
    try:
        body: Any = json.loads(text)
    except (ValueError, RecursionError):
        return
    properties: dict[str, Any] = body if isinstance(body, dict) else {}
    known = {name.lower(): name for name in metadata}
    for name, value in properties.items():
        if value is not None and not isinstance(value, list):
            metadata[known.get(name.lower(), name)] = datum(str(value))


def properties_of(content: Content) -> dict[str, Any]:
    """The application properties as JSON can hold them."""
    return {name: plain(value) for name, value in content.application_properties().items()}


def plain(value: Any) -> Any:
    """A property as JSON can hold it."""
    match value:
        case bytes():
            return b64encode(value).decode()
        case datetime():
            return written(value)
        case str() | bool() | int() | float() | None:
            return value
        case _:
            return str(value)


def written(value: Any) -> Any:
    """A date as .NET writes it in JSON, without zeros at its end; everything else as it is."""
    if not isinstance(value, datetime):
        return value
    fraction = f".{value.microsecond:06}0".rstrip("0").rstrip(".")
    return f"{value:%Y-%m-%dT%H:%M:%S}{fraction}Z"


def moment(seconds: float) -> datetime:
    """Seconds since 1970 as a date."""
    return datetime.fromtimestamp(seconds, UTC)
