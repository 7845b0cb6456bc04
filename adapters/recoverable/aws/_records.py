"""Read Lambda's SQS event into messages; no I/O."""

from __future__ import annotations

from datetime import UTC, datetime

from recoverable._message import NO_HEADERS, Message, received
from recoverable._sqs.queues import queue_from_arn

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeAlias

    from recoverable._config import Recoverability
    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.settlement import Platform
    from recoverable._sqs.queues import Queue

    Record: TypeAlias = dict[str, Any]

PREFIXES = ("NServiceBus.", "Recoverable.", "S3BodyKey", "ExtendedPayloadSize", "SQSLargePayloadSize")
"""With one of these begins each attribute that says something to this package; see wire.py."""


def records_of(event: object) -> tuple[Queue, list[Record]]:
    """Return the queue and the records of an event; `messages_of` checks the records.

    Raises:
        ValueError: it is no event of one SQS queue, or has no records; the invocation fails, and nothing is deleted.
    """
    if not isinstance(event, dict):
        event = getattr(event, "raw_event", event)  # as Powertools' `event_source` wraps it
    found = event.get("Records") if isinstance(event, dict) else None
    records: list[Record] = found if isinstance(found, list) else []
    try:
        return queue_from_arn(records[0]["eventSourceARN"]), records
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise restoring().no_event(event, records, error) from None


def messages_of(
    records: list[Record], queue: Queue, recoverability: Recoverability, platform: Platform
) -> tuple[list[Message], list[Delivery]]:
    """Return the message of each record, and the deliveries of those that were made before or carry headers of this package.

    Args:
        records: the records.
        queue: where they came from.
        recoverability: the settings.
        platform: what it counts.

    Raises:
        ValueError: as `records_of`.
    """
    messages: list[Message] = []
    restored: list[Delivery] = []
    name, arn = queue.name, records[0]["eventSourceARN"]
    for record in records:
        try:
            body, message_id = record["body"], record["messageId"]
            whole = (
                type(body) is type(message_id) is type(record["receiptHandle"]) is str
                and record["eventSourceARN"] == arn
            )
        except (KeyError, TypeError):
            whole = False
        if not whole:
            raise ValueError(f"no SQS event: {restoring().problem_of(records)}")
        attributes = record.get("messageAttributes")
        try:
            counted = record["attributes"]["ApproximateReceiveCount"]
        except (KeyError, TypeError):  # some tests leave out what SQS always sends
            counted = "1"
        message = Message(body, message_id, record, name, date_sent, own_attributes, group_of)
        has_headers = '"NServiceBus.' in body or (attributes and holds_headers(attributes))
        if counted != "1" or has_headers:
            restored.append(
                restoring().restored_delivery(
                    message, counted, recoverability, platform, first_received, has_headers=bool(has_headers)
                )
            )
            message = restored[-1].message
        messages.append(message)
    return messages, restored


def holds_headers(attributes: Any) -> bool:
    """True if an attribute says something to this package; the sender's own are read when a handler asks for them."""
    for name in attributes:  # noqa: SIM110  # a generator for `any` would cost each such record more
        if name.startswith(PREFIXES):
            return True
    return False


def own_attributes(message: Message) -> Mapping[str, str]:
    """Return the sender's own text attributes as headers."""
    record = received(message)
    if not record.get("messageAttributes"):
        return NO_HEADERS
    headers: Mapping[str, str] = restoring().wire_of(record).promoted()
    return headers


def date_sent(message: Message) -> datetime | None:
    """Return when SQS accepted a message; None when that is unknown."""
    return date_in(received(message), "SentTimestamp")


def first_received(record: Record) -> datetime | None:
    """Return when SQS first gave out a broker message; None when that is unknown."""
    return date_in(record, "ApproximateFirstReceiveTimestamp")


def date_in(record: Record, attribute: str) -> datetime | None:
    """Return the date in an attribute of SQS's own."""
    try:
        return datetime.fromtimestamp(int(record["attributes"][attribute]) / 1000, UTC)
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return None  # absent or absurd: unknown


def group_of(message: Message) -> str | None:
    """Return the message group; None when it is in none."""
    group: str | None = (received(message).get("attributes") or NO_HEADERS).get("MessageGroupId")
    return group


def restoring() -> Any:
    """Return the module that reads what most records do not have."""
    import recoverable.aws._restoring as module  # noqa: PLC0415  # door: to messages that came before, or carry headers or attributes

    return module
