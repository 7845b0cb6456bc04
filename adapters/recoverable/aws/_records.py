"""Read Lambda's SQS event into messages and deliveries; no I/O."""

from __future__ import annotations

from recoverable._ladder.delivery import Delivery
from recoverable._message import NO_HEADERS, Message, received
from recoverable._sqs.queues import queue_from_arn

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime
    from typing import Any, TypeAlias

    from recoverable._config import Recoverability
    from recoverable._ladder.delivery import Platform
    from recoverable._sqs.queues import Queue

    Record: TypeAlias = dict[str, Any]

PREFIXES = ("NServiceBus.", "Recoverable.", "S3BodyKey", "ExtendedPayloadSize", "SQSLargePayloadSize")
"""With one of these begins each attribute that says something to this package; see wire.py."""


def untouched(event: Any) -> tuple[Queue, list[Record]] | None:
    """Return the queue and the records of an event of which each is as it should be, comes for the first time, and has no headers.

    None for any other event: `records_of` looks at it more closely.
    """
    try:  # one look at each record, and no call, for each costs every good one
        records = getattr(event, "raw_event", event)["Records"]  # as Powertools' `event_source` wraps it
        arn = records[0]["eventSourceARN"]
        for record in records:
            body, attributes = record["body"], record["messageAttributes"]
            if (
                record["attributes"]["ApproximateReceiveCount"] != "1"
                or not (body.__class__ is record["messageId"].__class__ is record["receiptHandle"].__class__ is str)
                or record["eventSourceARN"] != arn
                or '"NServiceBus.' in body
            ):
                return None
            if attributes:
                for name in attributes:
                    if name.startswith(PREFIXES):
                        return None
        return queue_from_arn(arn), list(records)  # as it is now: messages are made from it while handlers run
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None


class Untouched(Message):
    """A message of an untouched record. `untouched_messages` fills it, for a call with arguments costs each good record more."""

    __slots__ = ()

    __init__ = object.__init__


def untouched_messages(records: list[Record], queue: Queue) -> Iterator[Message]:
    """Yield the message of each record when its turn comes, so that those that are done with need no memory."""
    name, headers, sent_at, group_id = queue.name, own_attributes, first_sent, group_of
    for record in records:
        message = Untouched()
        message._body = record["body"]
        message._id = record["messageId"]
        message._native = record
        message._queue = name
        message._headers = headers
        message._sent_at = sent_at
        message._group_id = group_id
        message._attempt = 1
        message._round = 0
        yield message


def own_attributes(message: Message) -> Mapping[str, str]:
    """Return the sender's own text attributes as headers."""
    record = received(message)
    if not record.get("messageAttributes"):
        return NO_HEADERS
    from recoverable._sqs.wire import wire_of  # noqa: PLC0415  # most handlers never ask

    return wire_of(record).promoted()


def first_sent(message: Message) -> datetime | None:
    """Return when the message was first sent; see `date_sent`."""
    from recoverable.aws._restoring import date_sent  # noqa: PLC0415  # as above

    return date_sent(message)


def group_of(message: Message) -> str | None:
    """Return the message group; None when it is in none."""
    group: str | None = received(message)["attributes"].get("MessageGroupId")
    return group


def records_of(event: object) -> tuple[Queue, list[Record]]:
    """Return the queue and the records of an event.

    Raises:
        ValueError: it is no event of one SQS queue, or has no records; the invocation fails, and nothing is deleted.
    """
    event = getattr(event, "raw_event", event)  # as Powertools' `event_source` wraps it
    records = event.get("Records") if isinstance(event, dict) else None
    if not isinstance(records, list) or not records:
        from recoverable.aws._restoring import shape  # noqa: PLC0415  # for the error

        raise ValueError(
            f"no SQS event: {shape(event)}; wanted is what an event source mapping sends, {{'Records': [...]}} with at least one"
        )
    from recoverable.aws._restoring import problem_of  # noqa: PLC0415  # most events are untouched

    if problem := problem_of(records):
        raise ValueError(f"no SQS event: {problem}")
    return queue_from_arn(records[0]["eventSourceARN"]), records


def delivery_of(
    record: Record, queue: Queue, recoverability: Recoverability, platform: Platform, restored: list[Delivery]
) -> Delivery:
    """Return the record as one delivery of a message.

    Args:
        record: the record.
        queue: where it came from.
        recoverability: the settings.
        platform: what it counts.
        restored: takes the delivery, if it was made before or carries attributes of its own.
    """
    system, attributes, body = record.get("attributes") or NO_HEADERS, record.get("messageAttributes"), record["body"]
    group, counted = system.get("MessageGroupId"), system.get("ApproximateReceiveCount", "1")
    has_headers = '"NServiceBus.' in body or (attributes and holds_headers(attributes))
    if has_headers:
        from recoverable.aws._restoring import carrying_headers  # noqa: PLC0415  # most messages come without

        message = carrying_headers(record, queue, group)
    else:
        message = Message(body, record["messageId"], record, queue.name, first_sent, own_attributes, group)
    if counted == "1" and not has_headers:
        return Delivery(message)
    from recoverable.aws._restoring import restored_delivery  # noqa: PLC0415  # most messages come for the first time, without headers

    delivery = restored_delivery(message, counted, recoverability, platform)
    restored.append(delivery)
    return delivery


def holds_headers(attributes: Any) -> bool:
    """True if an attribute says something to this package; the sender's own are read when a handler asks for them."""
    return any(name.startswith(PREFIXES) for name in attributes)
