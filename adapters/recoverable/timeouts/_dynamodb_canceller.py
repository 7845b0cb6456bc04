"""Cancel timeouts that wait in a DynamoDB table, any number at once: no two cancels write the same item.

A timeout is first set to "cancelling", which hides it from dispatchers that read it from then on. Then its shard's state is read. If
no dispatcher had announced to take the timeout, none can have it, and it is cancelled for good. Otherwise a dispatcher may have read it
before, and it waits again. A transaction of the timeout with its shard's state would do the same in one call. But DynamoDB cancels a
transaction that meets another one on the same item, and all cancels of a shard would meet there.
"""

from __future__ import annotations

import recoverable.timeouts._dynamodb_items as layout
from recoverable._errors import StoreUnavailable
from recoverable.timeouts._dynamodb_table import conditional
from recoverable.timeouts._store import CANCELLED, CANCELLING
from recoverable.timeouts._timeout import parse_id

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from datetime import datetime

    from recoverable.timeouts._dynamodb_items import Item, Key
    from recoverable.timeouts._dynamodb_shards import ShardStates
    from recoverable.timeouts._dynamodb_table import Bodies, Table

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
        location, where = parse_id(timeout_id), layout.due_key(timeout_id)
        if location is None or where is None:
            return False
        item = None
        for _ in range(STEPS):
            item = item or self._table.get(where)
            if item is not None and layout.is_cancelled(item):
                self._delete_related(item)
                return True
            if item is None or not may_be_cancelled(item):
                return False
            if self._shards.is_untaken(location.shard, layout.due_time_of(item), layout.dispatch_time(item)):
                item = self._complete(where, now) if layout.is_cancelling(item) else self._begin(item, now)
            elif layout.is_cancelling(item):
                item = self._restore(item, location.shard)
            else:
                return False
        raise StoreUnavailable("DynamoDB: a timeout that is to be cancelled changes all the time; call again")

    def _begin(self, item: Item, now: datetime) -> Item | None:
        """Hide a timeout that waits as it was read. Return it as it is then; None when it has changed."""
        unchanged, values = layout.as_seen(item)
        condition = f"{unchanged} AND attribute_not_exists(held)"
        values = {":outcome": CANCELLING, ":expires": layout.expiry(now), **values}
        change = "SET outcome = :outcome, expires = :expires"
        return self._table.update(layout.key_of(item), change, condition, values, ReturnValues="ALL_NEW")

    def _complete(self, where: Key, now: datetime) -> Item | None:
        """Cancel a hidden timeout for good. Return it as it is then; None when it has changed."""
        change = "SET outcome = :to, expires = :expires REMOVE message, retry_at, reason"
        values = {":from": CANCELLING, ":to": CANCELLED, ":expires": layout.expiry(now)}
        return self._table.update(where, change, HAS_OUTCOME, values, ReturnValues="ALL_NEW")

    def _restore(self, item: Item, shard: int) -> Item | None:
        """Let a hidden timeout wait again. Return it as it is then; None when it has changed.

        A pointer to it comes first: meanwhile its minute may have counted as empty.
        """
        self._shards.point_to(item, shard, layout.dispatch_time(item))
        change, values = "REMOVE outcome, expires", {":from": CANCELLING}
        return self._table.update(layout.key_of(item), change, HAS_OUTCOME, values, ReturnValues="ALL_NEW")

    def _delete_related(self, item: Item) -> None:
        """Take the pointer from the correlation away, unless the timeout was stored again meanwhile, and the message from S3.

        An error is logged and not raised: the timeout is cancelled all the same.
        """
        try:
            fields = layout.fields_of(item)
            if "correlation" in fields:
                self._expire_pointer(item, fields["correlation"])
            self._bodies.delete([fields["s3"]] if "s3" in fields else [])
        except StoreUnavailable as error:
            import logging  # noqa: PLC0415  # seldom needed

            from recoverable._observe.log import log_safely  # noqa: PLC0415  # seldom needed

            log = logging.getLogger("recoverable.timeouts")
            words = "What belongs to timeout '%s' could not be deleted: %s. It is cancelled all the same."
            log_safely(log.warning, words, item["sk"]["S"], error)

    def _expire_pointer(self, item: Item, correlation: str) -> None:
        still = {"Key": layout.key_of(item), **conditional("outcome = :cancelled", {":cancelled": CANCELLED})}
        pointer, values = layout.correlation_pointer(item["sk"]["S"], correlation), {":expires": item["expires"]}
        expired = {"Key": pointer, "UpdateExpression": "SET expires = :expires", **conditional(None, values)}
        self._table.update_while(still, expired)


def may_be_cancelled(item: Item) -> bool:
    """True if a timeout waits, or is being cancelled. One that a migration holds may be at its target."""
    return layout.is_cancelling(item) or ("expires" not in item and "held" not in item)
