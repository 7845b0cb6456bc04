"""Cancel timeouts that wait in a DynamoDB table, any number at once: no two cancels write the same item.

A timeout is first set to "cancelling", which hides it from dispatchers that read it from then on. Then its shard's state is read. If
no dispatcher had announced to take the timeout, none can have it, and it is cancelled for good. Otherwise a dispatcher may have read it
before, and it waits again. A transaction of the timeout with its shard's state would do the same in one call. But DynamoDB cancels a
transaction that meets another one on the same item, and all cancels of a shard would meet there.
"""

from __future__ import annotations

import os

from recoverable.timeouts._ids import parse_id
from recoverable.timeouts._stores.dynamodb.items import (
    correlation_pointer,
    dispatch_time,
    due_time_of,
    expiry,
    fields_of,
    is_cancelled,
    is_cancelling,
    kept_pointer,
)
from recoverable.timeouts._stores.dynamodb.keys import WAITS, due_key, key_of, number, text
from recoverable.timeouts._stores.rows import CANCELLED, CANCELLING, StoreUnavailable

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from datetime import datetime

    from recoverable.timeouts._ids import Location
    from recoverable.timeouts._stores.dynamodb.keys import Item, Key
    from recoverable.timeouts._stores.dynamodb.shard_states import ShardStates
    from recoverable.timeouts._stores.dynamodb.table import Table
    from recoverable.timeouts._stores.s3.store import Bodies

STEPS = 20
"""Changes of one timeout that a cancel follows before it asks to be called again; it makes two itself."""

HAS_OUTCOME = "outcome = :from"


class Canceller:
    """The cancels of a table.

    Args:
        table: the table.
        shard_states: the states of its shards.
        bodies: the messages in S3.
    """

    __slots__ = ("_bodies", "_shards", "_table")

    def __init__(self, table: Table, shard_states: ShardStates, bodies: Bodies) -> None:
        self._table, self._shards, self._bodies = table, shard_states, bodies

    def cancel(self, timeout_id: str, now: datetime) -> bool:
        """Cancel a timeout, or complete an earlier cancel. False when there is none, or it may have been taken."""
        location, where = parse_id(timeout_id), due_key(timeout_id)
        if location is None or where is None:
            return False
        item = None
        for _ in range(STEPS):
            item = item or self._table.get(where)
            if item is not None and is_cancelled(item):
                self._try_to_delete_related(item)
                return True
            if item is None or not may_be_cancelled(item):
                return False
            if self._shards.is_untaken(location.shard, due_time_of(item), dispatch_time(item)):
                item = self._complete(where, now) if is_cancelling(item) else self._begin(item, now)
            elif is_cancelling(item):
                item = self._restore(item, location)
            else:
                return False
        raise StoreUnavailable("DynamoDB: a timeout that is to be cancelled changes all the time; call again")

    def _try_to_delete_related(self, item: Item) -> None:
        try:
            self._delete_related(item)
        except StoreUnavailable as error:
            import logging  # noqa: PLC0415  # seldom needed

            from recoverable._observe.log import log_safely  # noqa: PLC0415

            log = logging.getLogger("recoverable.timeouts")
            text = "What belongs to timeout '%s' could not be deleted: %s. It is cancelled all the same."
            log_safely(log.warning, text, item["sk"]["S"], error)

    def _begin(self, item: Item, now: datetime) -> Item | None:
        """Hide a timeout that waits as it was read. Return it as it is then; None when it has changed."""
        as_seen = "retry_at = :seen" if "retry_at" in item else "attribute_not_exists(retry_at)"
        return self._table.update(
            key_of(item),
            UpdateExpression="SET outcome = :outcome, expires = :expires",
            ConditionExpression=f"{WAITS} AND attribute_not_exists(held) AND {as_seen}",
            ExpressionAttributeValues={":outcome": text(CANCELLING), ":expires": number(expiry(now))}
            | ({":seen": item["retry_at"]} if "retry_at" in item else {}),
            ReturnValues="ALL_NEW",
        )

    def _complete(self, where: Key, now: datetime) -> Item | None:
        """Cancel a hidden timeout for good. Return it as it is then; None when it has changed."""
        return self._table.update(
            where,
            UpdateExpression="SET outcome = :to, expires = :expires REMOVE message, retry_at, reason",
            ConditionExpression=HAS_OUTCOME,
            ExpressionAttributeValues={
                ":from": text(CANCELLING),
                ":to": text(CANCELLED),
                ":expires": number(expiry(now)),
            },
            ReturnValues="ALL_NEW",
        )

    def _restore(self, item: Item, location: Location) -> Item | None:
        """Let a hidden timeout wait again. Return it as it is then; None when it has changed.

        A pointer to it comes first, for meanwhile its minute may have counted as empty.
        """
        at = dispatch_time(item)
        self._table.put(kept_pointer(item, location.shard, at, os.urandom(8).hex()))
        self._shards.schedule_late_check(location.shard, at)
        return self._table.update(
            key_of(item),
            UpdateExpression="REMOVE outcome, expires",
            ConditionExpression=HAS_OUTCOME,
            ExpressionAttributeValues={":from": text(CANCELLING)},
            ReturnValues="ALL_NEW",
        )

    def _delete_related(self, item: Item) -> None:
        """Take the pointer from the correlation away, unless the timeout was stored again meanwhile, and the message from S3."""
        fields = fields_of(item)
        if "correlation" in fields:
            pointer = key_of(correlation_pointer(item["sk"]["S"], fields["correlation"]))
            still = {"Key": key_of(item), "ConditionExpression": "outcome = :cancelled"}
            expired = {"Key": pointer, "UpdateExpression": "SET expires = :expires"}
            self._table.transact(
                [
                    {"ConditionCheck": {**still, "ExpressionAttributeValues": {":cancelled": text(CANCELLED)}}},
                    {"Update": {**expired, "ExpressionAttributeValues": {":expires": item["expires"]}}},
                ]
            )
        self._bodies.delete([fields["s3"]] if "s3" in fields else [])


def may_be_cancelled(item: Item) -> bool:
    """True if a timeout waits, or is being cancelled. One that a migration holds may be at its target."""
    return is_cancelling(item) or ("expires" not in item and "held" not in item)
