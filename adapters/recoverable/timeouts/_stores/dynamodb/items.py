"""Convert timeouts to items of a DynamoDB table, and back; `keys` says where which item is. Pure.

A timeout stays where it is, whatever becomes of it: each change is one conditional write of one item.
"""

from __future__ import annotations

from datetime import timedelta

from recoverable.timeouts._ids import DIGITS, parse_id
from recoverable.timeouts._stores.dynamodb.keys import (
    due_key,
    kept_partition,
    key,
    key_of,
    number,
    pointer_partition,
    text,
)
from recoverable.timeouts._stores.rows import CANCELLED, CANCELLING, Row, TooLarge
from recoverable.timeouts._timeout import VERSION, Timeout, Unreadable, dump_message, load_timeout

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from recoverable.timeouts._stores.dynamodb.keys import Item, Key

MAX_ROW = 400_000
"""The most bytes of a row's texts; DynamoDB takes 409,600 an item with the names of its attributes (DynamoDB quotas)."""

KEEP_FINISHED = timedelta(days=1)
"""How long the outcome of a finished timeout is kept."""


def to_item(timeout: Timeout) -> Item:
    """Return the item of a timeout that waits. Its message is one text."""
    where = due_key(timeout.id)
    assert where is not None, timeout.id
    fields = {"to": timeout.to, "endpoint": timeout.endpoint, "correlation": timeout.correlation}
    return {
        **where,
        "version": number(VERSION),
        "message": text(dump_message(timeout)),
        **{name: text(value) for name, value in fields.items() if value},
    }


def with_s3_body(item: Item, s3_key: str) -> Item:
    """Return the item with its message in S3."""
    return {**{name: value for name, value in item.items() if name != "message"}, "s3": text(s3_key)}


def size_of(item: Item) -> int:
    """Return the bytes of the item's texts."""
    return sum(len(value["S"].encode()) for value in item.values() if "S" in value)


def too_large_error(size: int) -> TooLarge:
    """Return the error for a timeout that does not fit into a row, where there is no S3 bucket."""
    return TooLarge(
        f"a timeout of {size:,} bytes; a row takes {MAX_ROW:,}. Give the store a bucket, DynamoDBStore(..., bucket='...'), or send less"
    )


def to_row(item: Item, message: str | Unreadable) -> Row:
    """Return an item as a row.

    Args:
        item: the item.
        message: its message, or the reason why there is none.
    """
    timeout_id, timeout, problem = item["sk"]["S"], None, ""
    try:
        if isinstance(message, Unreadable):
            raise message
        timeout = load_timeout(timeout_id, fields_of(item), message)
    except Unreadable as error:
        problem = str(error)
    kept, held, held_for = "retry_at" in item, "held" in item, item.get("held", {}).get("S", "")
    return Row(timeout_id, timeout, problem=problem, native=item, kept=kept, held=held, held_for=held_for)


def fields_of(item: Item) -> Mapping[str, Any]:
    """Return an item's texts and its version, as far as they have the right type."""
    found: dict[str, Any] = {name: value["S"] for name, value in item.items() if "S" in value}
    digits = item.get("version", {}).get("N", "")
    return found | {"version": int(digits) if digits.isdigit() else digits}


def retry_time(item: Item) -> int:
    """Return when a kept timeout, or its pointer, is to be tried again; 0, which means at once, if it holds no moment."""
    digits = item.get("retry_at", {}).get("N", "")
    return int(digits) if digits.isdigit() and len(digits) <= DIGITS else 0


def due_time_of(item: Item) -> int:
    """Return when the timeout of an item is due; 0, which means at once, if its id holds no moment."""
    location = parse_id(item["sk"]["S"])
    return location.due if location else 0


def dispatch_time(item: Item) -> int:
    """Return when a timeout that waits is to be dispatched."""
    return retry_time(item) if "retry_at" in item else due_time_of(item)


def kept_pointer(item: Item, shard: int, at: int, mark: str) -> Item:
    """Return the item that points to a timeout which is to be looked at apart from its minute.

    Args:
        item: the timeout.
        shard: its shard.
        at: when it is to be looked at.
        mark: a random text that distinguishes this pointer from others to the same timeout.
    """
    where = key(kept_partition(shard), item["sk"]["S"])
    return {**where, "of": item["pk"], "retry_at": number(at), "mark": text(mark)}


def pointer_target(kept: Item) -> Key | None:
    """Return the key of the timeout to which a pointer points; None when the pointer is broken."""
    partition, timeout_id = kept.get("of", {}).get("S"), kept["sk"]["S"]
    return key(partition, timeout_id) if partition else due_key(timeout_id)


def finished_item(where: Key, outcome: str, expires: int) -> Item:
    """Return what stays of a finished timeout until DynamoDB's time to live deletes it. Only finished timeouts have `expires`.

    Args:
        where: its key.
        outcome: dispatched, cancelled or migrated.
        expires: when it may be deleted, in seconds since 1970.
    """
    return {**key_of(where), "outcome": text(outcome), "expires": number(expires)}


def is_cancelled(item: Item) -> bool:
    """True if the timeout was cancelled."""
    return "outcome" in item and item["outcome"]["S"] == CANCELLED


def is_cancelling(item: Item) -> bool:
    """True if a cancel has hidden the timeout, and it is not known yet if a dispatcher has it."""
    return "outcome" in item and item["outcome"]["S"] == CANCELLING


def expiry(now: datetime) -> int:
    """Return when a finished timeout may be deleted, in seconds since 1970."""
    return int((now + KEEP_FINISHED).timestamp())


def correlation_pointer(timeout_id: str, correlation: str) -> Item:
    """Return the item that points from a correlation to a timeout."""
    return key(pointer_partition(correlation), timeout_id)
