"""Restore a message that was delivered before or carries headers; most messages come for the first time, without any."""

from __future__ import annotations

import re
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
from recoverable._message import Message, received
from recoverable._observe.log import log_unreadable_header
from recoverable._sqs.wire import wire_of
from recoverable.headers import FOLDED

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from recoverable._config import Recoverability
    from recoverable._ladder.delivery import Carried
    from recoverable._ladder.settlement import Platform
    from recoverable._sqs.wire import Record


DEAD_LETTERED_FROM = "DeadLetterQueueSourceArn"
"""SQS's attribute of a message that it dead-lettered (ReceiveMessage, "MessageSystemAttributeNames")."""


def restored_delivery(
    message: Message, counted: str, recoverability: Recoverability, platform: Platform,
    first_received: Callable[[Record], datetime | None], *, has_headers: bool,
) -> Delivery:  # fmt: skip
    """Return the delivery with the place on the ladder that headers and the broker's count say.

    Args:
        message: the message as its record alone says.
        counted: the broker's count, as it came.
        recoverability: the settings.
        platform: what it counts.
        first_received: returns when SQS first gave out a broker message.
        has_headers: True if the record has headers, in an attribute or in a wrapper: the delivery then has another
            message, made of them.
    """
    message, carried = carrying_headers(message) if has_headers else (message, NOTHING_CARRIED)
    # an earlier delivery failed, and not before the first receive
    if counted != "1" and carried.first_failed_at is None:
        carried = carried.replace(first_failed_at=first_received(received(message)))
    in_order = platform.redelivers_only
    delivery = Delivery(message, broker_count(counted), carried_in_order(carried) if in_order else carried)
    if in_order:
        restore_place_in_order(delivery, recoverability)
    else:
        restore_retry_state(delivery, platform.counter, recoverability.immediate.max_retries)
    return delivery


def carrying_headers(message: Message) -> tuple[Message, Carried]:
    """Return the message of a record with headers, and what they carry."""
    record: Record = received(message)
    wire = wire_of(record)
    headers = wire.promoted()
    carried = carried_in(headers, moved_back=DEAD_LETTERED_FROM in (record.get("attributes") or {}))
    if carried.left_behind:
        headers = in_this_life(headers, carried)
    native, group = wire.with_overflow(), message.group_id
    sent_at = carried.time_sent or message.sent_at
    message_id = carried.message_id or record["messageId"]
    if FOLDED in headers:
        log_unreadable_header(FOLDED, message_id, message.queue)
    return Message(wire.body, message_id, native, message.queue, sent_at, headers=headers, group_id=group), carried


def broker_count(text: str) -> int:
    """Return the broker's count of deliveries: 1 where it is missing, and 10,000 where it is larger."""
    if not (text.isascii() and text.isdigit()):
        return 1
    return max(int(text), 1) if len(text) < len(str(MAX_COUNT)) else MAX_COUNT


def no_event(event: object, records: list[Record], error: Exception) -> ValueError:
    """Return the error for an event whose queue cannot be read.

    Args:
        event: what came.
        records: its records, if it has any.
        error: why its queue cannot be read.
    """
    if not records:
        return ValueError(
            f"no SQS event: {shape(event)}; wanted is what an event source mapping sends, {{'Records': [...]}} with at least one"
        )
    problem = problem_of(records)
    return ValueError(f"no SQS event: {problem}" if problem else str(error))


def shape(event: object) -> str:
    """Describe an event for an error, without quoting it."""
    return (
        f"a dict with the keys {sorted(map(str, event))[:10]}"
        if isinstance(event, dict)
        else f"a {type(event).__name__}"
    )


def problem_of(records: list[Any]) -> str:
    """Describe what is wrong with the records of an event, for an error; nothing when they are as they should be."""
    kept = [record if isinstance(record, dict) else {} for record in records]
    arns, names = [record.get("eventSourceARN") for record in kept], ("messageId", "receiptHandle", "body")
    one_queue = isinstance(arns[0], str) and arns.count(arns[0]) == len(arns)
    whole = [all(type(record.get(name)) is str for name in names) for record in kept]
    if one_queue and all(whole):
        return ""
    if others := sorted({source for record in kept if (source := service_of(record)) not in ("", "aws:sqs")}):
        return (
            f"these records come from {', '.join(others)}, and this function serves SQS only; let them be sent to a queue, and"
            " let the function read the queue"
        )
    if not one_queue:
        return "its records name no queue, or several, in eventSourceARN; wanted is one and the same"
    return f"record {whole.index(False)} lacks a messageId, receiptHandle or body that is text"


def service_of(record: Record) -> str:
    """Return the service that a record comes from, such as "aws:sns", which writes its name with a capital; nothing when it says none."""
    source = str(record.get("eventSource") or record.get("EventSource") or "")
    return source if re.fullmatch("aws:[a-z0-9-]{1,40}", source) else ""
