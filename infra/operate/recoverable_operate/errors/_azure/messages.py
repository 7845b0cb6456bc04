"""Read a message of a Service Bus error queue, and make the fields of its copy. Pure."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import UUID

from recoverable._service_bus.wire import changed, in_milliseconds, origin_of
from recoverable.azure._messages import ARRAYS
from recoverable.headers import FOLDED, MESSAGE_ID, TIME_SENT, read_date, sendable, texts
from recoverable_operate.errors._azure.amqp_types import UNSENDABLE, id_text
from recoverable_operate.errors._azure.typed_values import (
    plain_value,
    shown_value,
    text_of,
    typed_values,
    types_in,
    written,
)
from recoverable_operate.errors._message import ACTIVE, DEFERRED, EDIT_OF, SCHEDULED, FailedMessage, problem_of
from recoverable_operate.errors._queue import Copy

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusReceivedMessage  # noqa: TID251  # for types alone

Record = dict[str, Any]

DATA_BODY = "data"
"""The kind of a body of bytes; the others are AMQP values and sequences (AMQP 1.0, "Data")."""

STATES = {1: DEFERRED, 2: SCHEDULED}
"""Service Bus's numbers for the states that no receiver gets (`ServiceBusMessageState`)."""

OF_THE_BROKER = frozenset(
    (
        "x-opt-enqueued-time", "x-opt-sequence-number", "x-opt-locked-until", "x-opt-message-state", "x-opt-lock-token",
        "x-opt-enqueue-sequence-number", "x-opt-deadletter-source", "x-opt-scheduled-enqueue-time", "x-opt-partition-key",
        "x-opt-via-partition-key", "x-opt-partition-id", "x-opt-publisher", "x-opt-offset",
    )
)  # fmt: skip
"""The annotations of Service Bus's own; those that a sender sets are among the fields."""

DEAD_LETTER_PROPERTIES = ("DeadLetterReason", "DeadLetterErrorDescription")
"""Properties in which Service Bus writes why it dead-lettered a message."""


class UncopyableBody(Exception):
    """Raised when a body is an AMQP value or sequence, which no copy here can have."""


def record_of(received: ServiceBusReceivedMessage) -> Record:
    """Return a received or peeked message as JSON can hold it."""
    raw = received.raw_amqp_message
    encoding = raw.properties.content_encoding if raw.properties else None
    return {
        "sequenceNumber": received.sequence_number,
        "enqueuedAt": written(received.enqueued_time_utc),
        "deliveryCount": received.delivery_count or 0,
        "state": STATES.get(int(received.state), ACTIVE),
        "body": None if (body := body_of(received)) is None else b64encode(body).decode(),
        "bodyType": received.body_type.name.lower(),
        "messageId": id_text(received.message_id),
        "deadLetterSource": received.dead_letter_source,
        "fields": {name: id_text(value) for name in ARRAYS if (value := getattr(received, name)) not in (None, "")},
        "contentEncoding": None if encoding is None else text_of(encoding),
        "annotations": typed_values(raw.annotations, without=OF_THE_BROKER),
        "footer": typed_values(raw.footer),
        "properties": typed_values(received.application_properties),
    }


def body_of(received: ServiceBusReceivedMessage) -> bytes | None:
    """Return the body's bytes, none of them for a message without a body or with a null, as .NET has it; None for an AMQP value or sequence."""
    if received.body_type.value == DATA_BODY:
        return b"".join(received.body)
    return b"" if received.body is None else None


def why_unsendable(record: Record) -> str | None:
    """Return why no copy can be made of a message; None where one can."""
    if record["body"] is None:
        return f"its body is an AMQP {record['bodyType']}"
    for section in ("properties", "annotations", "footer"):
        for name, typed in record.get(section, {}).items():
            if found := sorted(set(types_in(typed)) & UNSENDABLE):
                which = f"{name!r} of its {section}" if name else f"all of its {section}"
                return f"{which} {'cannot be decoded' if found[0] == 'FOREIGN' else f'is an AMQP {found[0].lower()}'}"
    return None


def failed_message(record: Record, *, namespace: str, dead_letters_of: str | None) -> FailedMessage:
    """Return the record in our words. Nothing that a sender writes raises here.

    Args:
        record: the message.
        namespace: its namespace.
        dead_letters_of: the queue or subscription of whose dead-letter subqueue it is; None for a message of a queue.
    """
    headers = texts({name: shown_value(each) for name, each in record["properties"].items()})
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
        origin=origin_of(str(record["sequenceNumber"]), enqueued),
        enqueued_at=enqueued,
        sent_at=read_date(headers, TIME_SENT) or enqueued,
        group_id=record["fields"].get("session_id"),
        receives=record["deliveryCount"],
        source=address_of(namespace, source) if source and is_queue else None,
        reason=reason,
        state=record["state"],
        body_error=None if record["body"] is not None else f"an AMQP {record['bodyType']}, not bytes",
        problem=problem_of(headers),
        unsendable=why_unsendable(record),
        native=record,
    )


def fields_of(
    copy: Copy, *, namespace: str, entity: str, to: str, delay: timedelta | None, now: datetime
) -> dict[str, Any]:
    """Return the arguments of azure.servicebus.ServiceBusMessage for the copy; one without changes keeps the broker's reason.

    It has no time to live of its own: the queue's counts.

    Raises:
        UncopyableBody: its body is an AMQP value or sequence.
    """
    record = copy.message.native
    if copy.message.body is None:
        raise UncopyableBody(f"its body is {copy.message.body_error}, of which no copy can be made")
    removed = dict.fromkeys((*DEAD_LETTER_PROPERTIES, FOLDED)) if copy.changes else {}  # it has what they keep
    changes = {**removed, **copy.changes}
    properties = {name: plain_value(each) for name, each in record["properties"].items() if name not in changes}
    others = {name: value for name, value in properties.items() if isinstance(value, datetime | UUID | dict)}
    kept = {name: value for name, value in properties.items() if name not in others}
    fields = sendable(record["fields"])
    if "session_id" in fields:
        fields.pop("partition_key", None)  # Service Bus wants both the same, and takes the session's alone
    return {
        **fields,
        "body": copy.message.body,
        "message_id": identity(copy, namespace, entity, to),
        "application_properties": changed(kept, changes) | others,
        **({"scheduled_enqueue_time_utc": in_milliseconds(now + delay)} if delay else {}),
    }


def sections_of(record: Record) -> Record:
    """Return what the SDK sets on AMQP's own form of a message alone, without what the broker writes itself."""
    return {
        "content_encoding": record.get("contentEncoding"),
        "annotations": {name: plain_value(each) for name, each in record.get("annotations", {}).items()},
        "footer": {name: plain_value(each) for name, each in record.get("footer", {}).items()},
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
    record = {"contentEncoding": None, "annotations": {}, "footer": {}, **record}
    for section in ("properties", "annotations", "footer"):
        for each in record[section].values():
            plain_value(each)
            shown_value(each)
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
