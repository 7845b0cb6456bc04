"""Read the messages of a Functions trigger as deliveries."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache
from logging import getLogger
from typing import TYPE_CHECKING, Any

from recoverable._ladder.delivery import (
    NOTHING_CARRIED,
    Delivery,
    carried_in,
    carried_in_order,
    in_this_life,
    restore_place_in_order,
    restore_retry_state,
)
from recoverable._limits import MAX_COUNT
from recoverable._message import NO_HEADERS, Message
from recoverable._observe.log import log_safely, log_unreadable_header
from recoverable.headers import FOLDED, texts
from recoverable.nservicebus.folding import MessageWithFields, with_lost

if TYPE_CHECKING:
    from collections.abc import Mapping

    from azure.functions import ServiceBusMessage  # noqa: TID251  # for types alone

    from recoverable._config import Recoverability
    from recoverable._ladder.settlement import Platform

ARRAYS = {
    "content_type": "ContentTypeArray", "correlation_id": "CorrelationIdArray", "partition_key": "PartitionKeyArray",
    "reply_to": "ReplyToArray", "reply_to_session_id": "ReplyToSessionIdArray", "session_id": "SessionIdArray",
    "subject": "SubjectArray", "to": "ToArray",
}  # fmt: skip
"""The text fields, and the arrays in which a batch has them. The host leaves out empty values, so a short array cannot
be assigned."""

METADATA = {
    "applicationproperties", "client", "contenttype", "correlationid", "deadlettersource", "deliverycount", "enqueuedtime",
    "enqueuedtimeutc", "expiresat", "expiresatutc", "label", "locktoken", "messageactions", "messageid", "messagereceiver",
    "messagesession", "partitionkey", "receiveactions", "replyto", "replytosessionid", "sequencenumber", "sessionactions",
    "sessionid", "subject", "sys", "to", "transactionpartitionkey", "userproperties",
}  # fmt: skip
"""The metadata of a message that the host itself writes, in lower case (azure-sdk-for-net, `ServiceBusTriggerBindingStrategy`)."""

NUMBERS = ("deliverycount", "sequencenumber")
"""The metadata that the host writes as numbers: attempts are counted by the first, copies identified by the second."""


def delivery_of(native: ServiceBusMessage, queue: str, recoverability: Recoverability, platform: Platform) -> Delivery:
    """Return the trigger's message as one delivery.

    Args:
        native: the message.
        queue: the name of the queue it came from.
        recoverability: the settings.
        platform: what it counts.
    """
    properties = dict(properties_of(native))
    headers, carried = NO_HEADERS, NOTHING_CARRIED
    if properties:
        headers = texts(properties)
        carried = carried_in(headers)
        if carried.left_behind:
            native, properties = with_lost(native, properties)
            headers = in_this_life(texts(properties), carried)
            if FOLDED in headers:
                log_unreadable_header(FOLDED, carried.message_id or str(native.message_id), queue)
    message = Message(
        native.get_body(), id=carried.message_id or native.message_id or "", headers=headers, queue=queue,
        sent_at=carried.time_sent or aware(native.enqueued_time_utc), group_id=native.session_id, native=native,
    )  # fmt: skip
    if platform.redelivers_only:
        carried = carried_in_order(carried, refused_sends=carried.refused_sends)
    delivery = Delivery(message, delivered(native.delivery_count), carried)
    delivery.properties = properties
    if platform.redelivers_only:
        restore_place_in_order(delivery, recoverability)
    elif carried is not NOTHING_CARRIED or delivery.deliveries > 1:
        restore_retry_state(delivery, platform.counter, recoverability.immediate.max_retries)
    return delivery


def properties_of(native: ServiceBusMessage) -> Mapping[str, Any]:
    """Return the application properties, which extensions before 5.0 give under their old name alone."""
    return native.application_properties or native.user_properties or {}


def delivered(count: object) -> int:
    """Return Functions' DeliveryCount, which is 1 on first delivery.

    Return 1 when it is missing, malformed or above 10,000.
    """
    return count if isinstance(count, int) and not isinstance(count, bool) and 1 <= count <= MAX_COUNT else 1


def is_source(name: str, delivery: Delivery) -> bool:
    """True if a name is that of the queue that a delivery came from; Service Bus takes upper for lower case."""
    return name.lower() == delivery.message.queue.lower()


def service_bus_key(delivery: Delivery) -> tuple[object, ...]:
    """Return the queue, the number and the time by which Service Bus knows a message; a queue that is made anew counts from 1 again."""
    native = delivery.native
    # as texts: metadata may hold anything, and a list is no key
    return delivery.message.queue.lower(), *map(
        str, (native.sequence_number, native.message_id, native.enqueued_time_utc)
    )


def aware(moment: datetime | None) -> datetime | None:
    """Return the moment in UTC; the host means UTC where it leaves the zone out."""
    if moment is None or moment.tzinfo is None:
        return moment and moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC)


def is_text(native: ServiceBusMessage) -> bool:
    """True if the trigger delivers text.

    The host then writes the properties of a JSON body into the metadata, even over its own.
    """
    metadata = {name.lower(): value for name, value in (native.metadata or {}).items()}
    if any(isinstance(metadata.get(name), str) for name in NUMBERS):
        return True
    if not (foreign := metadata.keys() - METADATA):
        return False
    try:
        body = json.loads(native.get_body())
    except (ValueError, RecursionError):
        return False  # only JSON is written into the metadata
    return isinstance(body, dict) and any(
        name.lower() in foreign and str(metadata[name.lower()]) == str(value) for name, value in body.items()
    )


def as_list(messages: object, *, batch: bool) -> list[Any]:
    """Return the trigger's messages, one or many, as a list.

    Raises:
        TypeError: they are no messages of a trigger, or many where one is expected.
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


def checked_binary(messages: object, *, batch: bool) -> list[Any]:
    """Return the messages of a trigger that users wrote, as `as_list` does.

    Raises:
        TypeError: as `as_list`; or the trigger delivers text, and a JSON body then overwrites metadata.
    """
    natives = as_list(messages, batch=batch)
    if len(natives) == 1 and is_text(natives[0]):  # many at once are no JSON object, and overwrite nothing
        raise TypeError(
            "the trigger delivers text, and a JSON body overwrites the host's metadata of the message, its delivery count "
            "included; write data_type=func.DataType.BINARY on the trigger, or use ServiceBusEndpoint.blueprint()"
        )
    return natives


def without_ambiguous_fields(natives: list[ServiceBusMessage], queue: str) -> list[Any]:
    """Return the messages of a batch without the fields of which the host does not say which message has which; log which these are.

    Args:
        natives: the messages.
        queue: the name of the queue they came from.
    """
    if not (absent := ambiguous_fields(natives)):
        return natives
    log_ambiguous_fields(absent, queue)
    fields = dict.fromkeys(absent | {"label"} if "subject" in absent else absent)
    return [MessageWithFields(native, fields) for native in natives]


def ambiguous_fields(natives: list[ServiceBusMessage]) -> frozenset[str]:
    """Return the text fields that some messages of a batch have and others not: each without one shifts those of the others."""
    metadata = natives[0].metadata or {}
    given = {field: metadata.get(array) for field, array in ARRAYS.items()}
    return frozenset(
        field for field, values in given.items() if isinstance(values, list) and 0 < len(values) < len(natives)
    )


@cache
def log_ambiguous_fields(fields: frozenset[str], queue: str) -> None:
    """Log, once for a queue in a process, that its messages and their copies lack some fields: they could have another message's."""
    text = (
        "Reading %s failed for a batch from '%s' (the host does not say which message has which). Messages and their copies "
        "are without. Set the field on each message of this queue, or on none."
    )
    log = getLogger("recoverable.settlement").warning
    log_safely(log, text, ", ".join(sorted(fields)), queue, extra={"queue": queue})
