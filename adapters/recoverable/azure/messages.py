"""The messages of a Functions trigger as deliveries: pure."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from recoverable.headers import MESSAGE_ID, TIME_SENT, read_date, texts
from recoverable.limits import MAX_COUNT
from recoverable.message import Message
from recoverable.recovery import counting
from recoverable.recovery.delivery import Delivery

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from azure.functions import ServiceBusMessage  # noqa: TID251  # for types alone

    from recoverable.config import Recoverability
    from recoverable.recovery.delivery import Platform

ARRAYS = {
    "content_type": "ContentTypeArray",
    "correlation_id": "CorrelationIdArray",
    "partition_key": "PartitionKeyArray",
    "reply_to": "ReplyToArray",
    "reply_to_session_id": "ReplyToSessionIdArray",
    "session_id": "SessionIdArray",
    "subject": "SubjectArray",
    "to": "ToArray",
}
"""The fields of text, and the arrays in which a batch has them: the host leaves out what is empty, so that a short one tells nothing."""

METADATA = frozenset(
    name.lower()
    for name in (
        "ApplicationProperties", "Client", "ContentType", "CorrelationId", "DeadLetterSource", "DeliveryCount",
        "EnqueuedTime", "EnqueuedTimeUtc", "ExpiresAt", "ExpiresAtUtc", "Label", "LockToken", "MessageActions",
        "MessageId", "MessageReceiver", "MessageSession", "PartitionKey", "ReceiveActions", "ReplyTo",
        "ReplyToSessionId", "SequenceNumber", "SessionActions", "SessionId", "Subject", "Sys", "To",
        "TransactionPartitionKey", "UserProperties",
    )
)  # fmt: skip
"""What the host itself tells of a message (azure-sdk-for-net, `ServiceBusTriggerBindingStrategy`)."""

NUMBERS = ("deliverycount", "sequencenumber")
"""What it tells as numbers, and what the ladder counts and knows its copies by."""


def delivery_of(
    native: ServiceBusMessage,
    queue: str,
    recoverability: Recoverability,
    platform: Platform,
    ambiguous: frozenset[str] = frozenset(),
) -> Delivery:
    """The trigger's message as one delivery.

    Args:
        native: the message.
        queue: the name of the queue it came from.
        recoverability: the settings.
        platform: what it counts.
        ambiguous: the fields of text that the host does not tell.
    """
    headers = texts(properties_of(native))
    message = Message(
        native.get_body(),
        id=headers.get(MESSAGE_ID) or native.message_id or "",
        headers=headers,
        queue=queue,
        sent_at=first_sent,
        group_id=None if "session_id" in ambiguous else native.session_id,
        native=native,
    )
    delivery = Delivery(message, delivered(native.delivery_count))
    if headers or delivery.deliveries > 1:
        counting.restore_retry_state(delivery, platform.counter, recoverability.immediate.max_retries)
    return delivery


def properties_of(native: ServiceBusMessage) -> Mapping[str, Any]:
    """The application properties; extensions before 5.0 tell them under their old name alone, and without them no count would be known."""
    return native.application_properties or native.user_properties or {}


def first_sent(message: Message) -> datetime | None:
    """When the message was first sent: as it says itself, else when Service Bus took it."""
    return read_date(message.headers, TIME_SENT) or aware(message.native.enqueued_time_utc)


def delivered(count: object) -> int:
    """Functions' DeliveryCount, which is 1 on first delivery; what is missing or absurd reads as that."""
    known = isinstance(count, int) and not isinstance(count, bool) and 1 <= count <= MAX_COUNT
    return count if known and isinstance(count, int) else 1


def aware(moment: datetime | None) -> datetime | None:
    """The moment with its zone, which the host may leave out: it is UTC."""
    return moment if moment is None or moment.tzinfo else moment.replace(tzinfo=UTC)


def ambiguous_fields(natives: Sequence[ServiceBusMessage]) -> frozenset[str]:
    """The fields of text that cannot be told of a batch's messages: one that lacks one shifts those of the others."""
    if len(natives) == 1:
        return frozenset()
    told = natives[0].metadata or {}
    lengths = {field: length(told.get(array)) for field, array in ARRAYS.items()}
    return frozenset(field for field, length in lengths.items() if 0 < length < len(natives))


def length(array: object) -> int:
    """How many a metadata array holds; none when it is absent."""
    return len(array) if isinstance(array, list) else 0


def is_text(native: ServiceBusMessage) -> bool:
    """Whether the trigger delivers text: the properties of a JSON body then stand among the metadata, or in their place."""
    told = {name.lower(): value for name, value in (native.metadata or {}).items()}
    if any(isinstance(told.get(name), str) for name in NUMBERS):
        return True
    if not (foreign := told.keys() - METADATA):
        return False
    try:
        body = json.loads(native.get_body())
    except (ValueError, RecursionError):
        return False  # what is no JSON is not written into the metadata
    return isinstance(body, dict) and any(
        name.lower() in foreign and str(told[name.lower()]) == str(value) for name, value in body.items()
    )


def as_list(messages: object, *, batch: bool) -> list[Any]:
    """The trigger's messages, one or many.

    Raises:
        TypeError: they are no messages of a trigger, or many where one was to come.
    """
    natives = messages if isinstance(messages, list) else [messages]
    for native in natives:
        if not callable(getattr(native, "get_body", None)):
            raise TypeError(
                f"the trigger delivers a {type(native).__name__}; annotate its argument as func.ServiceBusMessage, "
                "or as typing.List of it, and write data_type=func.DataType.BINARY on the trigger"
            )
    if isinstance(messages, list) and not batch:
        raise TypeError(
            "the trigger delivers many messages, which the host can only abandon together; "
            "write ServiceBusEndpoint(..., batch=True), or cardinality=func.Cardinality.ONE on the trigger"
        )
    return natives


def checked_binary(natives: Sequence[ServiceBusMessage]) -> None:
    """Refuse what a trigger without binary data has overwritten.

    Raises:
        TypeError: the trigger delivers text.
    """
    if len(natives) == 1 and is_text(natives[0]):  # many at once are no JSON object, and overwrite nothing
        raise TypeError(
            "the trigger delivers text, and a JSON body overwrites what the host tells of the message, its delivery count "
            "included; write data_type=func.DataType.BINARY on the trigger, or use ServiceBusEndpoint.blueprint()"
        )
