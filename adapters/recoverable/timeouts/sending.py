"""Timeouts as entries of SendMessageBatch that SQS will take: pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from math import ceil
from typing import Any, NamedTuple

from recoverable.aws.copies import MAX_ENTRIES, MAX_SIZE, size
from recoverable.timeouts.stores.rows import Row
from recoverable.timeouts.timeout import Timeout

LONGEST_DELAY = 900
"""Seconds; SQS delays a message by 15 minutes at most (Amazon SQS delay queues)."""

UNSENDABLE = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
"""What is no character to SQS (SendMessage)."""

Entry = dict[str, Any]


class SendRequest(NamedTuple):
    """A row on its way: where it goes, and the entry without its batch's Id."""

    row: Row
    to: str
    entry: Entry


def to_send_request(row: Row, timeout: Timeout, now: datetime) -> SendRequest | None:
    """The row on its way; None when it must wait, because its queue cannot hold it back until it is due."""
    wait = (timeout.due_at - now).total_seconds()
    fifo = is_fifo(timeout.to)
    if wait > (0 if fifo else LONGEST_DELAY):
        return None
    entry = message_content(timeout) | delivery_fields(timeout, max(ceil(wait), 0), fifo=fifo)
    return SendRequest(row, timeout.to, entry)


def check_sendable(timeout: Timeout) -> None:
    """Refuse now what SQS would refuse when it is due.

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
    """Whether the queue of that URL, ARN or name keeps an order; such queues delay no single message."""
    return to.endswith(".fifo")


def message_content(timeout: Timeout) -> Entry:
    """What the message holds."""
    attributes = {name: dict(value) for name, value in timeout.attributes.items()}
    return {"MessageBody": timeout.body, "MessageAttributes": attributes}


def delivery_fields(timeout: Timeout, delay: int, *, fifo: bool) -> Entry:
    """Delay, group and identity, as far as the queue knows them."""
    if fifo:
        return {"MessageGroupId": timeout.group_id or timeout.id, "MessageDeduplicationId": timeout.id}
    return {"DelaySeconds": delay} | ({"MessageGroupId": timeout.group_id} if timeout.group_id else {})


def batches(ready: Iterable[SendRequest]) -> Iterator[list[SendRequest]]:
    """Batches that SQS takes: one queue, ten entries and 1 MiB at most; in the order of each queue."""
    open_ones: dict[str, list[SendRequest]] = {}
    for each in ready:
        batch = open_ones.setdefault(each.to, [])
        weight = size(each.entry) + sum(size(other.entry) for other in batch)
        if batch and (len(batch) == MAX_ENTRIES or weight > MAX_SIZE):
            yield open_ones.pop(each.to)
            batch = open_ones.setdefault(each.to, [])
        batch.append(each)
    yield from open_ones.values()
