"""Read a message of a Service Bus error queue, and make the fields of its copy. Pure."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import UUID

from recoverable._service_bus.wire import changed, in_milliseconds
from recoverable.azure._messages import ARRAYS
from recoverable.headers import FOLDED, MESSAGE_ID, TIME_SENT, read_date, sendable, texts
from recoverable_operate.errors._message import ACTIVE, DEFERRED, EDIT_OF, SCHEDULED, FailedMessage, problem_of
from recoverable_operate.errors._queue import Copy

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusReceivedMessage  # noqa: TID251  # for types alone

Record = dict[str, Any]

DATA_BODY = "data"
"""The kind of a body of bytes; the others are AMQP values and sequences (AMQP 1.0, "Data")."""

STATES = {1: DEFERRED, 2: SCHEDULED}
"""Service Bus's numbers for the states that no receiver gets (`ServiceBusMessageState`)."""

DEAD_LETTER_PROPERTIES = ("DeadLetterReason", "DeadLetterErrorDescription")
"""Properties in which Service Bus writes why it dead-lettered a message."""


class UncopyableBody(Exception):
    """Raised when a body is an AMQP value or sequence, which no copy here can have."""


def record_of(received: ServiceBusReceivedMessage) -> Record:
    """Return a received or peeked message as JSON can hold it."""
    is_data = received.body_type.value == DATA_BODY
    body = b"".join(received.body) if is_data else b""
    return {
        "sequenceNumber": received.sequence_number,
        "enqueuedAt": written(received.enqueued_time_utc),
        "deliveryCount": received.delivery_count or 0,
        "state": STATES.get(int(received.state), ACTIVE),
        "body": b64encode(body).decode() if is_data else None,
        "bodyType": received.body_type.name.lower(),
        "messageId": received.message_id,
        "deadLetterSource": received.dead_letter_source,
        "fields": {name: value for name in ARRAYS if (value := getattr(received, name))},
        "properties": {
            text_of(name): typed_value(value) for name, value in (received.application_properties or {}).items()
        },
    }


def typed_value(value: Any) -> dict[str, Any]:
    """Return a property with the name of its type. The SDK gives texts as bytes."""
    match value:
        case bytes() | str():
            return {"type": "string", "value": text_of(value)}
        case datetime():
            return {"type": "datetime", "value": written(value)}
        case UUID():
            return {"type": "uuid", "value": str(value)}
        case bool() | int() | float() | None:
            return {"type": type(value).__name__, "value": value}
        case _:
            return {"type": "string", "value": str(value)}


def plain_value(typed: Mapping[str, Any]) -> Any:
    """Return the property of its type."""
    match typed["type"]:
        case "datetime":
            return datetime.fromisoformat(typed["value"])
        case "uuid":
            return UUID(typed["value"])
        case _:
            return typed["value"]


def text_of(value: Any) -> str:
    """Return a text that the SDK gives as bytes."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def written(moment: datetime | None) -> str | None:
    """Return the moment as text."""
    return moment.astimezone(UTC).isoformat() if moment else None


def failed_message(record: Record, *, namespace: str, dead_letters_of: str | None) -> FailedMessage:
    """Return the record in our words. Nothing that a sender writes raises here.

    Args:
        record: the message.
        namespace: its namespace.
        dead_letters_of: the queue or subscription of whose dead-letter subqueue it is; None for a message of a queue.
    """
    properties = {name: each["value"] for name, each in record["properties"].items()}
    headers = texts(properties)
    enqueued = datetime.fromisoformat(record["enqueuedAt"]) if record["enqueuedAt"] else None
    source = record["deadLetterSource"] or dead_letters_of
    reason = ": ".join(headers[name] for name in DEAD_LETTER_PROPERTIES if name in headers) or None
    is_queue = source is not None and "/" not in source
    if source is not None and not is_queue:
        reason = f"{reason or 'dead-lettered'}, of the subscription {source}"
    return FailedMessage(
        headers.get(MESSAGE_ID) or record["messageId"] or "",
        str(record["sequenceNumber"]),
        headers,
        b64decode(record["body"]) if record["body"] is not None else None,
        enqueued_at=enqueued,
        sent_at=read_date(headers, TIME_SENT) or enqueued,
        group_id=record["fields"].get("session_id"),
        receives=record["deliveryCount"],
        source=address_of(namespace, source) if source and is_queue else None,
        reason=reason,
        state=record["state"],
        body_error=None if record["body"] is not None else f"an AMQP {record['bodyType']}, not bytes",
        problem=problem_of(headers),
        native=record,
    )


def fields_of(copy: Copy, *, namespace: str, entity: str, to: str, delay: timedelta, now: datetime) -> dict[str, Any]:
    """Return the arguments of azure.servicebus.ServiceBusMessage for the copy; one without changes keeps the broker's reason.

    It has no time to live of its own: the queue's counts.

    Raises:
        UncopyableBody: its body is an AMQP value or sequence.
    """
    record = copy.message.native
    if copy.message.body is None:
        raise UncopyableBody(f"its body is {copy.message.body_error}, of which no copy can be made")
    properties = {name: plain_value(each) for name, each in record["properties"].items()}
    kept = {name: value for name, value in properties.items() if not isinstance(value, datetime | UUID)}
    others = {name: value for name, value in properties.items() if name not in kept and name not in copy.changes}
    removed = dict.fromkeys((*DEAD_LETTER_PROPERTIES, FOLDED)) if copy.changes else {}  # it has what they keep
    fields = sendable(record["fields"])
    if "session_id" in fields:
        fields.pop("partition_key", None)  # Service Bus wants both the same, and takes the session's alone
    return {
        **fields,
        "body": copy.message.body,
        "message_id": identity(copy, namespace, entity, to),
        "application_properties": changed(kept, {**removed, **copy.changes}) | others,
        **({"scheduled_enqueue_time_utc": in_milliseconds(now + delay)} if delay else {}),
    }


def identity(copy: Copy, namespace: str, entity: str, to: str) -> str:
    """Return the copy's own id: the same original makes the same copy, which duplicate detection takes once."""
    original = str(copy.changes[MESSAGE_ID]) if EDIT_OF in copy.changes else copy.message.broker_id
    return sha256("\n".join((namespace.lower(), entity.lower(), original, to.lower())).encode()).hexdigest()


def address_of(namespace: str, entity: str) -> str:
    """Return the full address of an entity."""
    return f"sb://{namespace.lower()}/{entity.strip('/').lower()}"


def checked_record(line: Mapping[str, Any]) -> Record:
    """Return a record that was exported.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    record = dict(line)
    if not isinstance(record["sequenceNumber"], int) or record["state"] not in (ACTIVE, SCHEDULED, DEFERRED):
        raise ValueError("sequenceNumber or state is none")
    if record["body"] is not None:
        b64decode(record["body"], validate=True)
    for each in record["properties"].values():
        plain_value(each)
    if not all(name in ARRAYS and isinstance(text, str) for name, text in record["fields"].items()):
        raise ValueError("fields has what no message has")
    return {
        "messageId": None,
        "deadLetterSource": None,
        "enqueuedAt": None,
        "deliveryCount": 0,
        "bodyType": "data",
        **record,
    }
