"""Turn timeouts into entries of SendMessageBatch that SQS takes, and send one at once."""

from __future__ import annotations

import re
from datetime import datetime
from math import ceil
from typing import NamedTuple

from recoverable._limits import NO_DELAY
from recoverable._sqs.batches import MAX_SIZE, Entry, size
from recoverable._sqs.queues import LONGEST_DELAY
from recoverable.timeouts._store import Row
from recoverable.timeouts._timeout import Timeout

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

UNSENDABLE = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
"""Characters that SQS does not take (SendMessage)."""


class SendFailed(Exception):
    """Raised when SQS did not take a message that it was to deliver at once or delay itself."""

    __module__ = "recoverable.timeouts"  # the name under which users import it


class SendRequest(NamedTuple):
    """A row with the queue it goes to and its batch entry, without the entry's Id."""

    row: Row
    to: str
    entry: Entry

    @property
    def weight(self) -> int:
        """Return the bytes of the entry."""
        return size(self.entry)


def to_send_request(row: Row, timeout: Timeout, now: datetime) -> SendRequest | None:
    """Return the request that sends a row; None when it must wait, because its queue cannot delay it until it is due."""
    wait, fifo = timeout.due_at - now, is_fifo(timeout.to)
    if wait > (NO_DELAY if fifo else LONGEST_DELAY):
        return None
    entry = message_content(timeout) | delivery_fields(timeout, max(ceil(wait.total_seconds()), 0), fifo=fifo)
    return SendRequest(row, timeout.to, entry)


def send_now(timeout: Timeout, now: datetime, client: SQSClient | None) -> None:
    """Send one message, with the delay that SQS can do.

    Raises:
        SendFailed: SQS refused the message, or gave no answer; it may then have taken it.
    """
    from recoverable._sqs.sender import shared_sender  # noqa: PLC0415  # what is stored needs no client

    ready = to_send_request(Row(timeout.id, timeout), timeout, now)
    assert ready is not None, timeout.id  # the caller has compared the delay with SQS's limit
    outcome = shared_sender(client).send(timeout.to, [ready.entry])
    if not outcome.sent:
        why = outcome.failed or outcome.refused[0]
        raise SendFailed(f"the message for '{timeout.to}' is not sent: {why}")


def check_sendable(timeout: Timeout) -> None:
    """Check that SQS will take the message when it is due.

    Raises:
        ValueError: the body holds what SQS does not take, or the message is too large.
    """
    if (strange := UNSENDABLE.search(timeout.body)) is not None:
        raise ValueError(
            f"schedule(body) holds {strange.group()!r}, which SQS does not take; take it out, or write base64"
        )
    if (bytes_ := size(message_content(timeout))) > MAX_SIZE:
        raise ValueError(f"schedule(body) makes a message of {bytes_:,} bytes with its headers; SQS takes {MAX_SIZE:,}")


def is_fifo(to: str) -> bool:
    """True if this URL, ARN or name is that of a FIFO queue; these delay no single message."""
    return to.endswith(".fifo")


def message_content(timeout: Timeout) -> Entry:
    """Return the entry's body and attributes."""
    attributes = {name: dict(value) for name, value in timeout.attributes.items()}
    return {"MessageBody": timeout.body, "MessageAttributes": attributes}


def delivery_fields(timeout: Timeout, delay: int, *, fifo: bool) -> Entry:
    """Return the entry's delay, group and deduplication id, as far as its kind of queue has them."""
    if fifo:
        return {"MessageGroupId": timeout.group_id or timeout.id, "MessageDeduplicationId": timeout.id}
    return {"DelaySeconds": delay} | ({"MessageGroupId": timeout.group_id} if timeout.group_id else {})
