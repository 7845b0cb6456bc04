"""Name the keys of a DynamoDB table's items, and the conditions under which they change. Pure.

| pk                    | sk      | what                                                                                                               |
|-----------------------|---------|--------------------------------------------------------------------------------------------------------------------|
| `due#{bucket}#{shard}` | the id  | a timeout; with `expires` it is finished or being cancelled, with `held` a migration holds it, with `retry_at` it could not be dispatched |
| `kept#{shard}`        | the id  | points to a timeout that is looked at apart from its minute, at `retry_at`                                           |
| `for#{correlation}`   | the id  | points to a timeout                                                                                                |
| `shard#{shard}`       | `state` | a shard's state                                                                                                    |
"""

from __future__ import annotations

from recoverable.timeouts._ids import parse_id
from recoverable.timeouts._stores.buckets import bucket_of

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Item: TypeAlias = dict[str, Any]
    Key: TypeAlias = dict[str, Any]

NEW = "attribute_not_exists(pk)"
NOT_FINISHED = "attribute_not_exists(expires)"
WAITS = f"attribute_exists(pk) AND {NOT_FINISHED}"
IN_ITS_MINUTE = f"{NOT_FINISHED} AND attribute_not_exists(retry_at)"
"""Conditions: there is no item; it is not finished; it exists and is not finished; it is read with its minute."""


def text(value: str) -> dict[str, str]:
    """Return a text as a DynamoDB value."""
    return {"S": value}


def number(value: int) -> dict[str, str]:
    """Return a whole number as a DynamoDB value."""
    return {"N": str(value)}


def key(pk: str, sk: str) -> Key:
    """Return a key of the table."""
    return {"pk": text(pk), "sk": text(sk)}


def key_of(item: Item) -> Key:
    """Return an item's key."""
    return {"pk": item["pk"], "sk": item["sk"]}


def due_partition(bucket: int, shard: int) -> str:
    """Return the partition of a bucket's timeouts."""
    return f"due#{bucket}#{shard}"


def kept_partition(shard: int) -> str:
    """Return the partition of the pointers to a shard's timeouts that are looked at apart from their minute."""
    return f"kept#{shard}"


def pointer_partition(correlation: str) -> str:
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
