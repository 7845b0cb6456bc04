"""Lay timeouts out in a DynamoDB table: the keys of its items, what they hold, and the conditions under which they change. Pure.

| pk                    | sk      | what                                                                                                               |
|-----------------------|---------|--------------------------------------------------------------------------------------------------------------------|
| `due#{bucket}#{shard}` | the id  | a timeout; with `expires` it is finished or being cancelled, with `held` a migration holds it, with `retry_at` it could not be dispatched |
| `kept#{shard}`        | the id  | points to a timeout that is looked at apart from its minute, at `retry_at`                                           |
| `for#{correlation}`   | the id  | points to a timeout                                                                                                |
| `shard#{shard}`       | `state` | a shard's state                                                                                                    |

A bucket is a minute of due times. A timeout stays where it is, whatever becomes of it: each change is one conditional write of one item.
"""

from __future__ import annotations

from recoverable.timeouts._shards import Shard
from recoverable.timeouts._store import CANCELLED, CANCELLING, KEEP_FINISHED, Row
from recoverable.timeouts._timeout import DIGITS, VERSION, Timeout, Unreadable, dump_message, load_timeout, parse_id

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any, TypeAlias

    Item: TypeAlias = dict[str, Any]  # texts, whole numbers, and what is of another type as DynamoDB returned it
    Key: TypeAlias = dict[str, str]

NEW = "attribute_not_exists(pk)"
NOT_FINISHED = "attribute_not_exists(expires)"
WAITS = f"attribute_exists(pk) AND {NOT_FINISHED}"
IN_ITS_MINUTE = f"{NOT_FINISHED} AND attribute_not_exists(retry_at)"
"""Conditions: there is no item; it is not finished; it exists and is not finished; it is read with its minute."""

WIDTH = 60_000_000
"""Microseconds of a bucket: a minute. A poll of the next two minutes then reads three buckets, and little that is not due."""

# Buckets


def bucket_of(due: int) -> int:
    """Return the number of the bucket that holds a due time."""
    return due // WIDTH


def end_of(bucket: int) -> int:
    """Return the first moment after a bucket."""
    return (bucket + 1) * WIDTH


def is_past(bucket: int, moment: int) -> bool:
    """True if everything in the bucket is due by a moment. A bucket that is past by the horizon is read whole, with ids that hold no due time."""
    return end_of(bucket) <= moment


# Keys


def key(pk: str, sk: str) -> Key:
    """Return a key of the table."""
    return {"pk": pk, "sk": sk}


def key_of(item: Item) -> Key:
    """Return an item's key."""
    return {"pk": item["pk"], "sk": item["sk"]}


def due_partition(bucket: int, shard: int) -> str:
    """Return the partition of a bucket's timeouts."""
    return f"due#{bucket}#{shard}"


def kept_partition(shard: int) -> str:
    """Return the partition of the pointers to a shard's timeouts that are looked at apart from their minute."""
    return f"kept#{shard}"


def correlation_partition(correlation: str) -> str:
    """Return the partition of a correlation's pointers."""
    return f"for#{correlation}"


def shard_key(shard: int) -> Key:
    """Return the key of a shard's state."""
    return key(f"shard#{shard}", "state")


def due_key(timeout_id: str) -> Key | None:
    """Return the key of a timeout; None when this is no timeout's id."""
    location = parse_id(timeout_id)
    return None if location is None else key(due_partition(bucket_of(location.due), location.shard), timeout_id)


def kept_key(timeout_id: str) -> Key | None:
    """Return the key of the pointer to a kept timeout; None when this is no timeout's id."""
    location = parse_id(timeout_id)
    return None if location is None else key(kept_partition(location.shard), timeout_id)


# Timeouts


def to_item(timeout: Timeout) -> Item:
    """Return the item of a timeout that waits. Its message is one text."""
    at, texts = timeout.location, {"to": timeout.to, "endpoint": timeout.endpoint, "correlation": timeout.correlation}
    return {
        **key(due_partition(bucket_of(at.due), at.shard), timeout.id),
        "version": VERSION,
        "message": dump_message(timeout),
        **{name: text for name, text in texts.items() if text},
    }


def to_row(item: Item, message: str | Unreadable) -> Row:
    """Return an item as a row.

    Args:
        item: the item.
        message: its message, or the reason why there is none.
    """
    timeout, problem, texts = None, "", texts_of(item)
    try:
        if isinstance(message, Unreadable):
            raise message
        timeout = load_timeout(item["sk"], texts | {"version": item.get("version", "")}, message)
    except Unreadable as error:
        problem = str(error)
    kept, held, held_for = "retry_at" in item, "held" in item, texts.get("held", "")
    return Row(item["sk"], timeout, problem=problem, native=item, kept=kept, held=held, held_for=held_for)


def texts_of(item: Item) -> dict[str, Any]:
    """Return an item's texts; what is of another type was written by something else, and counts as absent."""
    return {name: value for name, value in item.items() if isinstance(value, str)}


def due_time_of(item: Item) -> int:
    """Return when the timeout of an item is due; 0, which means at once, if its id holds no moment."""
    location = parse_id(item["sk"])
    return location.due if location else 0


def retry_time(item: Item) -> int:
    """Return when a kept timeout, or its pointer, is to be tried again; 0, which means at once, if it holds no moment."""
    at = item.get("retry_at")
    return at if isinstance(at, int) and 0 <= at < 10**DIGITS else 0


def dispatch_time(item: Item) -> int:
    """Return when a timeout that waits is to be dispatched."""
    return retry_time(item) if "retry_at" in item else due_time_of(item)


def as_seen(item: Item) -> tuple[str, Item]:
    """Return the condition that a timeout waits and was not kept, or kept again, since it was read; and the values in it."""
    if "retry_at" in item:
        return f"{WAITS} AND retry_at = :seen", {":seen": item["retry_at"]}
    return f"{WAITS} AND attribute_not_exists(retry_at)", {}


def finished_item(item: Item, outcome: str, now: datetime) -> Item:
    """Return what stays of a timeout, finished now, until DynamoDB's time to live deletes it."""
    return {**key_of(item), "outcome": outcome, "expires": expiry(now)}


def expiry(now: datetime) -> int:
    """Return when what is finished now may be deleted, in seconds since 1970. Only finished timeouts have one."""
    return int((now + KEEP_FINISHED).timestamp())


def is_cancelled(item: Item) -> bool:
    """True if the timeout was cancelled."""
    return item.get("outcome") == CANCELLED


def is_cancelling(item: Item) -> bool:
    """True if a cancel has hidden the timeout, and it is not known yet if a dispatcher has it."""
    return item.get("outcome") == CANCELLING


# Pointers


def correlation_pointer(timeout_id: str, correlation: str) -> Item:
    """Return the item that points from a correlation to a timeout."""
    return key(correlation_partition(correlation), timeout_id)


def kept_pointer(item: Item, shard: int, at: int, mark: str) -> Item:
    """Return the item that points to a timeout which is to be looked at apart from its minute.

    Args:
        item: the timeout.
        shard: its shard.
        at: when it is to be looked at.
        mark: a random text that distinguishes this pointer from others to the same timeout.
    """
    where = key(kept_partition(shard), item["sk"])
    return {**where, "of": item["pk"], "retry_at": at, "mark": mark}


def pointer_target(kept: Item) -> Key | None:
    """Return the key of the timeout to which a pointer points; None when the pointer is broken."""
    partition = texts_of(kept).get("of")
    return key(partition, kept["sk"]) if partition else due_key(kept["sk"])


# Shards


def to_shard_item(shard: int, state: Shard) -> Item:
    """Return the item of a shard's state."""
    return shard_key(shard) | vars(state)


def from_shard_item(item: Item) -> Shard:
    """Return the shard's state that an item holds."""
    return Shard(**{name: item[name] for name in vars(Shard())})
