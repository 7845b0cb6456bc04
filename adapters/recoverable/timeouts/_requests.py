"""Check the arguments of `schedule`, and turn them into what SQS takes. Pure."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta

from recoverable._limits import NO_DELAY
from recoverable.headers import MESSAGE_ID, TIME_SENT, write_date
from recoverable.timeouts._ids import EPOCH, LATEST

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Mapping


RELATED_TO_TIMEOUT = "NServiceBus.RelatedToTimeoutId"

QUEUE_NAME = re.compile(r"(?=.{1,80}\Z)[A-Za-z0-9_-]+(\.fifo)?")
"""The names that SQS allows for queues (Amazon SQS API reference, CreateQueue)."""

LONGEST_CORRELATION = 2_000
"""Bytes, with room for a prefix: a key of DynamoDB has 2,048 at most (DynamoDB quotas)."""


def resolve_due_time(now: datetime, at: datetime | None, delay: timedelta | None) -> datetime:
    """Return when a timeout is due; never in the past.

    Raises:
        TypeError: neither or both were given, or one of another kind.
        ValueError: a negative delay, a time without a zone, or one out of range.
    """
    if (at is None) == (delay is None):
        raise TypeError(
            "schedule(at, delay): write one of the two, at=datetime(..., tzinfo=UTC) or delay=timedelta(...)"
        )
    if delay is not None:
        if not isinstance(delay, timedelta):
            raise TypeError(f"schedule(delay) is {delay!r}; write a timedelta, such as timedelta(hours=1)")
        if not NO_DELAY <= delay <= LATEST - now:
            raise ValueError(f"schedule(delay) is {delay}; write a timedelta from 0 until the year 2286")
        return now + delay
    if not isinstance(at, datetime):
        raise TypeError(f"schedule(at) is {at!r}; write a datetime, such as datetime(2030, 1, 1, tzinfo=UTC)")
    if at.utcoffset() is None:
        raise ValueError(f"schedule(at) is {at}, of no zone; write datetime(..., tzinfo=UTC)")
    if at > LATEST:
        raise ValueError(f"schedule(at) is {at}; write a time until {LATEST:%Y-%m-%d}")
    return max(at.astimezone(UTC), now)


def time_for_id(due_at: datetime, at: datetime | None, key: str | None) -> datetime:
    """Return the time for a timeout's id. With a key it is the time that was asked for, even if that is past: a repeated request then gets the same id."""
    return due_at if key is None or at is None else max(at, EPOCH)


def checked_destination(to: object) -> str:
    """Return the queue after checking it.

    Raises:
        TypeError: it is no text.
        ValueError: it is an ARN of something else, or its name cannot be that of an SQS queue.
    """
    from recoverable._sqs.names import destination  # noqa: PLC0415  # SQS is looked up when something is sent
    from recoverable._sqs.queues import Queue  # noqa: PLC0415  # SQS is looked up when something is sent

    if not isinstance(to, str):
        raise TypeError(f"schedule(to) is {to!r}; write a queue's URL, ARN or name")
    queue = destination(to, Queue(region="", account="", name=""))
    if not QUEUE_NAME.fullmatch(queue.name):
        raise ValueError(
            f"schedule(to) is {to!r}, and {queue.name!r} is no queue's name; write 1 to 80 letters, digits, hyphens and underscores, or a URL or ARN that ends so"
        )
    return to


def checked_key(key: str | None, at: datetime | None) -> str | None:
    """Return the key after checking that it is not given with a delay.

    Raises:
        TypeError: there is a key and a delay.
    """
    if key is not None and at is None:
        raise TypeError(
            "schedule(key) goes with at=, for a delay counts from now, and what is scheduled again would be due at another time; write at=message.sent_at + timedelta(days=3)"
        )
    return key


def checked_correlation(correlation: str) -> str:
    """Return the correlation after checking that it fits into a database key.

    Raises:
        ValueError: it does not fit.
    """
    try:
        size = len(correlation.encode())
    except UnicodeEncodeError:
        raise ValueError("the correlation holds half a surrogate pair; write whole characters") from None
    if size > LONGEST_CORRELATION:
        raise ValueError(f"the correlation is of {size:,} bytes; write at most {LONGEST_CORRELATION:,}, such as an id")
    return correlation


def body_as_text(body: object) -> str:
    """Return the body as SQS takes it: a text as it is, anything else as JSON."""
    if isinstance(body, bytes):
        raise TypeError("schedule(body) is bytes; SQS takes text: decode it, or write it in base64")
    text = body if isinstance(body, str) else json.dumps(body)
    if not text:
        raise ValueError("schedule(body) is empty, which SQS does not take; write what the message says")
    return text


def add_timeout_headers(timeout_id: str, due_at: datetime, headers: Mapping[str, str]) -> dict[str, str]:
    """Return a message's headers with its timeout's id, and with a message id and a sent time unless they are given."""
    named = {MESSAGE_ID: timeout_id, TIME_SENT: write_date(due_at)}
    return {**named, **headers, RELATED_TO_TIMEOUT: timeout_id}


def to_attributes(headers: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the one message attribute that carries the headers."""
    from recoverable._sqs.wire import HEADERS  # noqa: PLC0415

    return {HEADERS: {"StringValue": json.dumps(headers), "DataType": "String"}}
