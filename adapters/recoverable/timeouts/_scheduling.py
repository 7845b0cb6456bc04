"""Schedule messages for any time, and cancel them. A delay that SQS can do itself goes to SQS, and no store is touched."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime, timedelta

from recoverable._limits import NO_DELAY, checked_delay
from recoverable._sqs.queues import LONGEST_DELAY, Queue
from recoverable._sqs.wire import HEADERS, headers_in_json
from recoverable.headers import MESSAGE_ID, TIME_SENT, write_date
from recoverable.hosting import current_environment, utc_clock
from recoverable.timeouts._store import checked_store
from recoverable.timeouts._timeout import EPOCH, LATEST, Timeout, new_id

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from mypy_boto3_sqs import SQSClient

    from recoverable.timeouts._store import Store

SAGA_ID = "NServiceBus.SagaId"
RELATED_TO_TIMEOUT = "NServiceBus.RelatedToTimeoutId"

LONGEST_CORRELATION = 2_000
"""Bytes, with room for a prefix: a key of DynamoDB has 2,048 at most (DynamoDB quotas)."""

TOKEN_BYTES = 16


class Timeouts:
    """Messages that are sent later, by a store where the broker's own delay is too short.

    An SQS adapter that must delay a copy for longer than SQS can calls `hold` with the copy's entry, and completes the original when
    that returns. When it raises, nothing is stored, and the original stays on the queue.

    Args:
        store: the store, such as `DynamoDbStore("timeouts")`.
        endpoint: the name by which a migration can select these timeouts; None for the function's name.
        client: a boto3 SQS client for what SQS delays itself, instead of one for each region, made when it is needed.
        clock: gives the time; without a zone, that of the machine.
        longest_native: SQS itself does delays up to this, and these cannot be cancelled. At most 15 minutes.

    Raises:
        TypeError: a store or a duration that is none.
        ValueError: it is longer than 15 minutes.
    """

    longest_hold = timedelta(seconds=2)
    """The longest time that `hold` takes where the store does not answer: two calls of half a second, and boto3's pause of up to a second between them."""

    def __init__(
        self,
        store: Store,
        *,
        endpoint: str | None = None,
        client: SQSClient | None = None,
        clock: Callable[[], datetime] | None = None,
        longest_native: timedelta = LONGEST_DELAY,
    ) -> None:
        self.longest_native = checked_delay("Timeouts(longest_native)", longest_native, LONGEST_DELAY)
        self._endpoint = endpoint or os.environ.get("AWS_LAMBDA_FUNCTION_NAME", "local")
        self._store: Store = checked_store("Timeouts", store)
        self._client, self._own_clock = client, utc_clock(clock)

    def schedule(
        self,
        to: str,
        body: object,
        *,
        at: datetime | None = None,
        delay: timedelta | None = None,
        headers: Mapping[str, str] | None = None,
        correlation: str | None = None,
        key: str | None = None,
    ) -> str:
        """Send a message later. A time in the past means now.

        Args:
            to: the queue's URL, ARN or name.
            body: a text as it is, anything else as JSON.
            at: when to send it, with a time zone, up to the year 2286. Give this or `delay`.
            delay: after how long to send it.
            headers: the message's headers. NServiceBus.MessageId is added unless given, so that a duplicate can be recognised.
            correlation: a text by which `cancel_for` cancels it together with others; the header NServiceBus.SagaId unless given.
            key: makes repeated calls one message: the same queue, `at` and key are stored once, unless the timeout was cancelled in between.
                A message that SQS itself delays is not stored, and is sent as often as it is scheduled.

        Returns:
            The timeout's id, for `cancel`.

        Raises:
            TypeError: neither or both of `at` and `delay`, or one of another kind; a `key` with a `delay`; a body that is no JSON.
            ValueError: a negative delay; a time without a zone or out of range; no name of an SQS queue; a correlation of more than 2,000 bytes;
                a body that is empty, too large, or holds characters that SQS does not take.
            TooLarge: the message is too large for the store.
            StoreUnavailable: the message is not stored; call again.
            SendFailed: SQS was to delay the message, and did not take it; call again.
        """
        now = self.now()
        asked_at = due_at = resolve_due_time(now, at, delay)
        if key is not None:
            if at is None:
                raise TypeError(
                    "schedule(key) goes with at=, because a delay counts from now, and what is scheduled again would be due at another time; write at=message.sent_at + timedelta(days=3)"
                )
            asked_at = max(at, EPOCH)  # even if it is past: a repeated request then gets the same id
        timeout_id = new_id(asked_at, unique_token(checked_destination(to), key), self._store.shards)
        named = {
            MESSAGE_ID: timeout_id,
            TIME_SENT: write_date(due_at),
            **(headers or {}),
            RELATED_TO_TIMEOUT: timeout_id,
        }
        timeout = Timeout(
            timeout_id,
            to,
            body_as_text(body),
            attributes={HEADERS: {"StringValue": headers_in_json(named), "DataType": "String"}},
            endpoint=self._endpoint,
            correlation=checked_correlation(correlation or named.get(SAGA_ID, "")),
        )
        self._send_or_store(timeout, now, keyed=key is not None)
        return timeout_id

    def cancel(self, timeout_id: str) -> bool:
        """Cancel a timeout.

        Args:
            timeout_id: the id that `schedule` returned.

        Returns:
            True when it will not be sent. False when there is none with this id, it was sent, or it may be on its way: it is due within the
            dispatcher's next minutes, or SQS itself delays it.

        Raises:
            StoreUnavailable: it may not be cancelled; call again.
        """
        return self._store.cancel(timeout_id, now=self.now())

    def cancel_for(self, correlation: str) -> int:
        """Cancel the timeouts with this correlation, and return how many were cancelled.

        Raises:
            ValueError: a correlation with which nothing can be stored.
            StoreUnavailable: not all are cancelled; call again.
        """
        now, waiting = self.now(), self._store.ids_by_correlation(checked_correlation(correlation))
        return sum(self._store.cancel(timeout_id, now=now) for timeout_id in waiting)

    def hold(self, entry: Mapping[str, Any], *, to: str, at: datetime, key: str | None = None) -> str:
        """Store a message that is already built, such as the copy of a delayed retry, and return the timeout's id.

        Args:
            entry: MessageBody, MessageAttributes and MessageGroupId of an entry of SendMessageBatch.
            to: the queue's URL or ARN.
            at: when it is due, with a time zone.
            key: makes repeated calls with the same queue and `at` one message.

        Raises:
            TooLarge: the message is too large for the store.
            StoreUnavailable: the message is not stored.
        """
        now = self.now()
        timeout = Timeout(
            new_id(resolve_due_time(now, at, None), unique_token(to, key), self._store.shards),
            to,
            entry["MessageBody"],
            attributes=entry.get("MessageAttributes") or {},
            group_id=entry.get("MessageGroupId"),
            endpoint=self._endpoint,
        )
        self._store.put(timeout, now=now)
        return timeout.id

    def _send_or_store(self, timeout: Timeout, now: datetime, *, keyed: bool) -> None:
        from recoverable.timeouts._sending import check_sendable, is_fifo, send_now  # noqa: PLC0415  # a long delayed retry does not need it

        check_sendable(timeout)
        longest = NO_DELAY if is_fifo(timeout.to) else self.longest_native
        if timeout.due_at - now > longest or (keyed and self._store.was_scheduled(timeout.id)):
            self._store.put(timeout, now=now, again=True)
            return
        environment = current_environment.get()
        send_now(timeout, now, environment.client if environment else self._client)

    def now(self) -> datetime:
        """Return the time by which delays are counted: that of the test environment, where there is one."""
        environment = current_environment.get()
        return environment.clock() if environment else self._own_clock()


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


def checked_destination(to: object) -> str:
    """Return the queue after checking it.

    Raises:
        TypeError: it is no text.
        ValueError: it is an ARN of something else, or its name cannot be that of an SQS queue.
    """
    from recoverable._sqs.names import NAME, destination  # noqa: PLC0415  # a long delayed retry does not need it

    if not isinstance(to, str):
        raise TypeError(f"schedule(to) is {to!r}; write a queue's URL, ARN or name")
    queue = destination(to, Queue(region="", account="", name=""))
    if not re.fullmatch(NAME, queue.name):
        raise ValueError(
            f"schedule(to) is {to!r}, and {queue.name!r} is no queue's name; write 1 to 80 letters, digits, hyphens and underscores, or a URL or ARN that ends so"
        )
    return to


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


def unique_token(to: str, key: str | None) -> str:
    """Return the unique part of an id: random, or the same for the same key and queue."""
    if key is None:
        return os.urandom(TOKEN_BYTES).hex()
    from hashlib import sha256  # noqa: PLC0415  # for those who give a key

    return sha256(f"{to}\n{key}".encode()).hexdigest()[: 2 * TOKEN_BYTES]
