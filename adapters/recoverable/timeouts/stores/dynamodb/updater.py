"""Change timeouts that wait in a DynamoDB table: cancel, hold, keep or finish them."""

from __future__ import annotations

import os
from datetime import timedelta

from recoverable.timeouts.ids import parse_id
from recoverable.timeouts.stores.dynamodb.items import (
    WAITS,
    correlation_pointer,
    dispatch_time,
    due_key,
    due_time_of,
    fields_of,
    finished_item,
    is_cancelled,
    kept_key,
    kept_pointer,
    key_of,
    number,
    shard_key,
    text,
)
from recoverable.timeouts.stores.rows import CANCELLED, StoreUnavailable
from recoverable.timeouts.stores.shards import NOBODY

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Any

    from recoverable.timeouts.stores.dynamodb.items import Item
    from recoverable.timeouts.stores.dynamodb.shard_states import ShardStates
    from recoverable.timeouts.stores.dynamodb.table import Table
    from recoverable.timeouts.stores.rows import Kept, Row
    from recoverable.timeouts.stores.s3.store import Bodies
    from recoverable.timeouts.stores.shards import Claim

KEEP_FINISHED = timedelta(days=1)
"""How long the outcome of a finished timeout is kept."""

MAX_REASON = 1_000
"""The most characters of the reason why a timeout is kept."""

UNTAKEN = "horizon < :at AND (unsure = :nobody OR horizon < :due)"
"""`shards.is_untaken` as a condition of DynamoDB."""


class Updater:
    """The changes to the timeouts of a table.

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
        where = due_key(timeout_id)
        item = self._table.get(where) if where else None
        if item is None or not (is_cancelled(item) or self._try_cancel(item, now)):
            return False
        self._delete_related_of_cancelled(item)
        return True

    def _try_cancel(self, item: Item, now: datetime) -> bool:
        """Cancel a timeout if it is as it was read. True if it is cancelled then, by this call or another."""
        change = "SET outcome = :outcome, expires = :expires REMOVE message, retry_at, reason"
        values = {":outcome": text(CANCELLED), ":expires": number(expiry(now))}
        if self._update_untaken(item, change, "attribute_not_exists(held)", values):
            return True
        found = self._table.get(key_of(item))
        return found is not None and is_cancelled(found)

    def hold_for_migration(self, row: Row) -> bool:
        """Hide a timeout from dispatchers; False when it is gone, or may have been taken."""
        return row.held or self._update_untaken(row.native, "SET held = :yes", WAITS, {":yes": number(1)})

    def release_from_migration(self, rows: Sequence[Row]) -> None:
        """Let dispatchers see these again."""
        for row in rows:
            self._table.update(key_of(row.native), UpdateExpression="REMOVE held", ConditionExpression=WAITS)

    def keep(self, claim: Claim, rows: Sequence[Kept], retry_at: int) -> None:
        """Set aside what cannot be dispatched. What was finished since stays so; its pointer is deleted when it is looked at."""
        claim.next_kept_at = min(claim.next_kept_at, retry_at)
        mark = os.urandom(8).hex()
        self._table.write([kept_pointer(kept.row.native, claim.shard, retry_at, mark) for kept in rows])
        self._shards.schedule_kept_check(claim, retry_at)
        for kept in rows:  # last, for now its minute counts as empty
            self._table.update(
                key_of(kept.row.native),
                UpdateExpression="SET retry_at = :at, reason = :reason",
                ConditionExpression=WAITS,
                ExpressionAttributeValues={":at": number(retry_at), ":reason": text(kept.reason[:MAX_REASON])},
            )

    def finish(self, rows: Sequence[Row], outcome: str, now: datetime) -> None:
        """Mark these as dispatched or migrated, and delete what belongs to them."""
        items = [row.native for row in rows]
        self._table.write([finished_item(item, outcome, expiry(now)) for item in items])
        self._table.delete([key for item in items if "retry_at" in item and (key := kept_key(item["sk"]["S"]))])
        self._delete_related(items)

    def _update_untaken(self, item: Item, change: str, condition: str, values: dict[str, Any]) -> bool:
        """Change a timeout that waits and is as it was read, if no dispatcher has announced to take it: one transaction with its shard's state."""
        location = parse_id(item["sk"]["S"])
        if location is None:
            return False
        moments = {":at": dispatch_time(item), ":due": due_time_of(item), ":nobody": NOBODY}
        announced = {
            "Key": shard_key(location.shard),
            "ConditionExpression": UNTAKEN,
            "ExpressionAttributeValues": {name: number(moment) for name, moment in moments.items()},
        }
        as_seen = "retry_at = :seen" if "retry_at" in item else "attribute_not_exists(retry_at)"
        update = {
            "Key": key_of(item),
            "UpdateExpression": change,
            "ConditionExpression": f"{WAITS} AND {condition} AND {as_seen}",
            "ExpressionAttributeValues": values | ({":seen": item["retry_at"]} if "retry_at" in item else {}),
        }
        return self._table.transact([{"ConditionCheck": announced}, {"Update": update}])

    def _delete_related_of_cancelled(self, item: Item) -> None:
        try:
            self._delete_related([item])
        except StoreUnavailable as error:
            import logging  # noqa: PLC0415  # seldom needed

            from recoverable.observe.log import log_safely  # noqa: PLC0415

            log = logging.getLogger("recoverable.timeouts")
            text = "What belongs to timeout '%s' could not be deleted: %s. It is cancelled all the same."
            log_safely(log.warning, text, item["sk"]["S"], error)

    def _delete_related(self, done: Sequence[Item]) -> None:
        """Delete the pointers from correlations to finished timeouts, and their messages in S3."""
        named = [(item["sk"]["S"], fields_of(item)) for item in done]
        self._table.delete(
            [
                correlation_pointer(timeout_id, fields["correlation"])
                for timeout_id, fields in named
                if "correlation" in fields
            ]
        )
        self._bodies.delete([fields["s3"] for _, fields in named if "s3" in fields])


def expiry(now: datetime) -> int:
    """Return when a finished timeout may be deleted, in seconds since 1970."""
    return int((now + KEEP_FINISHED).timestamp())
