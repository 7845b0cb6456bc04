"""Read Lambda's SQS event into deliveries; no I/O."""

from __future__ import annotations

from datetime import UTC, datetime

from recoverable.aws.queues import queue_from_arn
from recoverable.limits import MAX_COUNT
from recoverable.message import NO_HEADERS, Message, place, received
from recoverable.recovery.delivery import Delivery

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from recoverable.aws.queues import Queue
    from recoverable.config import Recoverability
    from recoverable.recovery.delivery import Platform

    Record: TypeAlias = dict[str, Any]


def records_of(event: object) -> tuple[Queue, list[Record]]:
    """Return the queue and the records of an event.

    Raises:
        ValueError: it is no event of one SQS queue, or has no records; the invocation fails, and nothing is deleted.
    """
    event = getattr(event, "raw_event", event)  # as Powertools' `event_source` wraps it
    records = event.get("Records") if isinstance(event, dict) else None
    if not isinstance(records, list) or not records:
        raise ValueError(
            f"no SQS event: {shape(event)}; wanted is what an event source mapping sends, {{'Records': [...]}} with at least one"
        )
    arns = {record.get("eventSourceARN") if isinstance(record, dict) else None for record in records}
    if len(arns) != 1 or not isinstance(arn := arns.pop(), str):
        raise ValueError(
            "no SQS event: its records name no queue, or several, in eventSourceARN; wanted is one and the same"
        )
    for number, record in enumerate(records):
        named = isinstance(record.get("messageId"), str) and isinstance(record.get("receiptHandle"), str)
        if not named or not isinstance(record.get("body"), str):
            raise ValueError(f"no SQS event: record {number} lacks a messageId, receiptHandle or body that is text")
    return queue_from_arn(arn), records


def shape(event: object) -> str:
    """Describe an event for an error, without quoting it."""
    return (
        f"a dict with the keys {sorted(map(str, event))[:10]}"
        if isinstance(event, dict)
        else f"a {type(event).__name__}"
    )


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
    system = record.get("attributes") or NO_HEADERS
    group = system.get("MessageGroupId")
    has_headers = record.get("messageAttributes") or '"NServiceBus.' in record["body"]
    if has_headers:
        message = carrying_headers(record, queue, group)
    else:
        message = Message(record["body"], record["messageId"], record, queue.name, first_sent, group_id=group)
    counted = system.get("ApproximateReceiveCount", "1")
    if counted == "1" and not has_headers:
        return Delivery(message)  # the first attempt, as a message is made
    from recoverable.recovery import counting  # noqa: PLC0415  # most messages come for the first time, without attributes

    delivery = Delivery(message, broker_count(counted))
    if platform.redelivers_only:
        place_by_count(delivery, recoverability)
    else:
        counting.restore_retry_state(delivery, platform.counter, recoverability.immediate.max_retries)
    restored.append(delivery)
    return delivery


def carrying_headers(record: Record, queue: Queue, group: str | None) -> Message:
    """Return the message of a record with attributes, or in a wrapper; most messages come without."""
    from recoverable.aws.wire import wire_of  # noqa: PLC0415  # most messages come without attributes
    from recoverable.headers import MESSAGE_ID  # noqa: PLC0415  # as above

    wire = wire_of(record)
    headers = wire.promoted()
    message_id = headers.get(MESSAGE_ID) or record["messageId"]
    native = wire.with_overflow(record)
    return Message(wire.body, message_id, native, queue.name, first_sent, headers=headers, group_id=group)


def broker_count(text: str) -> int:
    """Return the broker's count of deliveries: 1 where it is missing, and 10,000 where it is larger."""
    if not (text.isascii() and text.isdigit()):
        return 1
    return max(int(text), 1) if len(text) < len(str(MAX_COUNT)) else MAX_COUNT


def place_by_count(delivery: Delivery, recoverability: Recoverability) -> None:
    """Restore round and attempt of a delivery where the broker's count alone says them."""
    from recoverable.recovery import counting  # noqa: PLC0415  # as above

    immediate, delayed = recoverability.immediate.max_retries, recoverability.delayed.max_retries
    counted, message = delivery.deliveries, delivery.message
    delivery.unreported = counting.is_past_the_ladder(counted, max_immediate=immediate, max_delayed=delayed)
    round_, attempt = counting.place_on_ladder(counted, max_immediate=immediate, max_delayed=delayed)
    place(message, round=round_, attempt=attempt)
    delivery.deliveries = attempt


def first_sent(message: Message) -> datetime | None:
    """Return when the message was first sent: as its header says, else when SQS accepted it; None when neither is known."""
    from recoverable.headers import TIME_SENT, read_date  # noqa: PLC0415  # most handlers never ask

    if said := read_date(message.headers, TIME_SENT):
        return said
    try:
        return datetime.fromtimestamp(int(received(message)["attributes"]["SentTimestamp"]) / 1000, UTC)
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return None  # absent or absurd: unknown
