"""Read Lambda's SQS event into deliveries; no I/O."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from recoverable.aws.queues import queue_from_arn
from recoverable.message import NO_HEADERS, received_message
from recoverable.recovery.delivery import Delivery, first_delivery

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeAlias

    from recoverable.aws.queues import Queue
    from recoverable.config import Recoverability
    from recoverable.message import Message
    from recoverable.recovery.delivery import Platform

    Record: TypeAlias = dict[str, Any]

PREFIXES = ("NServiceBus.", "Recoverable.", "S3BodyKey", "ExtendedPayloadSize", "SQSLargePayloadSize")
"""With one of these begins each attribute that says something to this package; see wire.py."""


def records_of(event: object) -> tuple[Queue, list[Record]]:
    """Return the queue and the records of an event.

    Raises:
        ValueError: it is no event of one SQS queue, or has no records; the invocation fails, and nothing is deleted.
    """
    event = getattr(event, "raw_event", event)  # as Powertools' `event_source` wraps it
    records = event.get("Records") if isinstance(event, dict) else None
    if not isinstance(records, list) or not records:
        from recoverable.aws.restoring import shape  # noqa: PLC0415  # for the error

        raise ValueError(
            f"no SQS event: {shape(event)}; wanted is what an event source mapping sends, {{'Records': [...]}} with at least one"
        )
    try:  # one look at each record, for each costs every good one
        arn = records[0]["eventSourceARN"]
        fits = [
            record["messageId"].__class__ is record["receiptHandle"].__class__ is record["body"].__class__ is str
            and record["eventSourceARN"] == arn for record in records
        ]  # fmt: skip
    except (KeyError, TypeError):
        fits = [False]
    if not all(fits) or not isinstance(arn, str):
        from recoverable.aws.restoring import problem_of  # noqa: PLC0415  # as above

        raise ValueError(f"no SQS event: {problem_of(records)}")
    return queue_from_arn(arn), records


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
    group = system.get("MessageGroupId")
    has_headers = '"NServiceBus.' in body or (attributes and holds_headers(attributes))
    if has_headers:
        from recoverable.aws.restoring import carrying_headers  # noqa: PLC0415  # most messages come without

        message = carrying_headers(record, queue, group)
    else:
        headers = partial(own_attributes, record) if attributes else NO_HEADERS
        message = received_message(body, record["messageId"], record, queue.name, first_sent, headers, group)
    counted = system.get("ApproximateReceiveCount", "1")
    if counted == "1" and not has_headers:
        return first_delivery(message)
    from recoverable.aws.restoring import restored_delivery  # noqa: PLC0415  # most messages come for the first time, without headers

    delivery = restored_delivery(message, counted, recoverability, platform)
    restored.append(delivery)
    return delivery


def holds_headers(attributes: Any) -> bool:
    """True if an attribute says something to this package; the sender's own are read when a handler asks for them."""
    for name in attributes:  # noqa: SIM110  # a generator would cost each good record more
        if name.startswith(PREFIXES):
            return True
    return False


def own_attributes(record: Record) -> Mapping[str, str]:
    """Return the sender's own text attributes as headers."""
    from recoverable.aws.wire import wire_of  # noqa: PLC0415  # most handlers never ask

    return wire_of(record).promoted()


def first_sent(message: Message) -> datetime | None:
    """Return when the message was first sent; see `date_sent`."""
    from recoverable.aws.restoring import date_sent  # noqa: PLC0415  # most handlers never ask

    return date_sent(message)
