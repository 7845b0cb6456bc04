"""Lambda's SQS event as deliveries: pure, and tolerant of whatever a sender wrote."""

from __future__ import annotations

import json
from base64 import b64decode
from datetime import UTC, datetime

from .. import counting
from ..delivery import Delivery
from ..errors import MessageDeserializationError
from ..headers import (
    CARRIED,
    CONTROL_MESSAGE,
    DELAYED_RETRIES,
    DUE_AT,
    ENCLOSED_MESSAGE_TYPES,
    HELD_SINCE,
    MESSAGE_ID,
    TIME_SENT,
    read_count,
    read_date,
)
from ..messages import NO_HEADERS, Message
from .queues import queue_from_arn

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeAlias

    from ..config import Recoverability
    from ..delivery import Platform
    from .queues import Queue

    Record: TypeAlias = dict[str, Any]
    Attributes: TypeAlias = dict[str, dict[str, Any]]

HEADERS = "NServiceBus.AmazonSQS.Headers"
FOLDED = "Recoverable.Attributes"
UNREADABLE_HEADERS = "Recoverable.UnreadableHeaders"
S3_BODY_KEY = "S3BodyKey"
EMPTY_BODY = "empty message"  # NServiceBus.AmazonSQS writes this for no body, which SQS does not take


def records_of(event: object) -> tuple[Queue, list[Record]]:
    """The queue and the records of an event; an empty one is a queue's too.

    Raises:
        ValueError: it is no event of one SQS queue; the invocation fails, and nothing is deleted.
    """
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
        if not all(isinstance(record.get(key), str) for key in ("messageId", "receiptHandle", "body")):
            raise ValueError(
                f"no SQS event: record {number} lacks a messageId, receiptHandle or body that is text"
            )
    return queue_from_arn(arn), records


def shape(event: object) -> str:
    """What an error may say of an event without quoting it."""
    return (
        f"a dict with the keys {sorted(map(str, event))[:10]}"
        if isinstance(event, dict)
        else f"a {type(event).__name__}"
    )


def delivery_of(record: Record, queue: Queue, recoverability: Recoverability, platform: Platform) -> Delivery:
    """The record as one delivery of a message."""
    system = record.get("attributes") or {}
    if record.get("messageAttributes") or '"NServiceBus.' in record["body"]:
        wire = wire_of(record)
        body, headers = wire.body, wire.promoted()
    else:
        body, headers = record["body"], NO_HEADERS
    counted = system.get("ApproximateReceiveCount", "1")
    deliveries = 1 if counted == "1" else max(read_count(system, "ApproximateReceiveCount"), 1)
    message = Message(
        body,
        id=(headers and headers.get(MESSAGE_ID)) or record["messageId"],
        headers=headers,
        queue=queue.name,
        sent_at=lambda: read_date(headers, TIME_SENT) or first_sent(system),
        group_id=system.get("MessageGroupId"),
        native=record,
    )
    return placed(Delivery(message, deliveries), recoverability, platform)


def placed(delivery: Delivery, recoverability: Recoverability, platform: Platform) -> Delivery:
    """The delivery with its place on the ladder: from the broker's count alone, or with what the message carries."""
    message, immediate = delivery.message, recoverability.immediate.max_retries
    if platform.in_place:
        delayed, deliveries = recoverability.delayed.max_retries, delivery.deliveries
        delivery.wordless = counting.is_past_the_ladder(
            deliveries, max_immediate=immediate, max_delayed=delayed
        )
        message.round, delivery.deliveries = counting.place_on_ladder(
            deliveries, max_immediate=immediate, max_delayed=delayed
        )
    elif headers := message.headers:
        message.round, delivery.carried = read_count(headers, DELAYED_RETRIES), read_count(headers, CARRIED)
        delivery.due_at, delivery.held_since = read_date(headers, DUE_AT), read_date(headers, HELD_SINCE)
    if not platform.in_place and delivery.deliveries + delivery.carried > 1:
        delivery.wordless = counting.is_wordless(delivery, platform.counter, immediate)
    message.attempt = counting.failures(delivery, platform.counter)
    return delivery


def first_sent(system: Mapping[str, str]) -> datetime | None:
    """When SQS took the message, if it says so."""
    try:
        return datetime.fromtimestamp(int(system["SentTimestamp"]) / 1000, UTC)
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return None  # absent or absurd: unknown


class Wire:
    """A record taken apart: our headers, the user's attributes, the body, and the wrapper when it came in one."""

    __slots__ = ("attributes", "body", "headers", "wrapper")

    def __init__(
        self,
        body: str | bytes | MessageDeserializationError,
        headers: dict[str, str],
        attributes: Attributes,
        wrapper: dict[str, Any] | None = None,
    ) -> None:
        self.body, self.headers, self.attributes, self.wrapper = body, headers, attributes, wrapper

    def promoted(self) -> Mapping[str, str]:
        """The headers as a handler sees them: the user's text attributes too, but ours, which are newer, win."""
        texts = {
            name: value["stringValue"]
            for name, value in self.attributes.items()
            if isinstance(value.get("stringValue"), str)
        }
        return texts | self.headers


def wire_of(record: Record) -> Wire:
    """The record taken apart, whichever of the two shapes of NServiceBus.AmazonSQS it has, or none."""
    attributes = {
        name: value
        for name, value in (record.get("messageAttributes") or {}).items()
        if isinstance(value, dict)
    }
    carried = attributes.pop(HEADERS, None)
    if carried is not None:
        headers = headers_from(carried.get("stringValue"))
        attributes |= unfolded(headers)
        body = elsewhere(attributes) or record["body"]
        return Wire(body, headers, attributes)
    if (wrapper := wrapper_in(record["body"])) is not None:
        headers = texts(wrapper["Headers"])
        attributes |= unfolded(headers)
        return Wire(unwrapped(wrapper), headers, attributes, wrapper)
    return Wire(record["body"], {}, attributes)


def headers_from(text: object) -> dict[str, str]:
    """The headers of the one attribute; what cannot be read as such is kept under a name of its own, so that nothing is lost."""
    try:
        headers = json.loads(text if isinstance(text, str) else "")
    except (ValueError, RecursionError):
        headers = None
    return texts(headers) if isinstance(headers, dict) else {UNREADABLE_HEADERS: str(text)}


def texts(headers: dict[str, Any]) -> dict[str, str]:
    """The headers with a text for each value: a number stays readable, a null is no header."""
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in headers.items()
        if value is not None
    }


def unfolded(headers: dict[str, str]) -> Attributes:
    """The attributes that had no room among SQS's ten, taken out of the headers; none, when it is not what folding writes."""
    try:
        folded = json.loads(headers.get(FOLDED, "null"))
    except (ValueError, RecursionError):
        folded = None
    if not isinstance(folded, dict) or not all(isinstance(value, dict) for value in folded.values()):
        return {}
    del headers[FOLDED]
    return folded


def wrapper_in(body: str) -> dict[str, Any] | None:
    """The body as NServiceBus.AmazonSQS's wrapper, if it is one: headers that name a message, beside a body in text."""
    try:
        wrapper = json.loads(body) if '"Headers"' in body else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(wrapper, dict) or not isinstance(headers := wrapper.get("Headers"), dict):
        return None
    names_a_message = (
        headers.get(CONTROL_MESSAGE) == "True" or MESSAGE_ID in headers or ENCLOSED_MESSAGE_TYPES in headers
    )
    return wrapper if names_a_message and isinstance(wrapper.get("Body", ""), str) else None


def unwrapped(wrapper: dict[str, Any]) -> str | bytes | MessageDeserializationError:
    """The body inside the wrapper: base64 when it is that, else as it stands."""
    if wrapper.get(S3_BODY_KEY):
        return left_in_s3()
    text = wrapper.get("Body", "")
    if text == EMPTY_BODY:
        return b""
    try:
        return b64decode(text, validate=True)
    except ValueError:
        return str(text)


def elsewhere(attributes: Attributes) -> MessageDeserializationError | None:
    """The error for a body that NServiceBus left in S3."""
    return left_in_s3() if attributes.get(S3_BODY_KEY, {}).get("stringValue") else None


def left_in_s3() -> MessageDeserializationError:
    """The error that says what to do about a body which is not here."""
    return MessageDeserializationError(
        "the body was left in S3, from where it is not read; have the sender send it with the message, SQS takes 1 MiB"
    )
