"""Change timeouts that wait in a DynamoDB table: hold, keep or finish them."""

from __future__ import annotations

import os

from recoverable.timeouts._ids import parse_id
from recoverable.timeouts._stores.dynamodb.items import (
    correlation_pointer,
    dispatch_time,
    due_time_of,
    expiry,
    fields_of,
    finished_item,
    kept_pointer,
)
from recoverable.timeouts._stores.dynamodb.keys import WAITS, kept_key, key_of, number, shard_key, text
from recoverable.timeouts._stores.shards import NOBODY

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from recoverable.timeouts._stores.dynamodb.keys import Item
    from recoverable.timeouts._stores.dynamodb.shard_states import ShardStates
    from recoverable.timeouts._stores.dynamodb.table import Table
    from recoverable.timeouts._stores.rows import Kept, Row
    from recoverable.timeouts._stores.s3.store import Bodies
    from recoverable.timeouts._stores.shards import Claim

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

    def hold_for_migration(self, row: Row, target: str) -> bool:
        """Hide a timeout from dispatchers; False when it is gone, or may have been taken."""
        return row.held or self._hold_untaken(row.native, target)

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

    def _hold_untaken(self, item: Item, target: str) -> bool:
        """Hold a timeout that waits and is as it was read, if no dispatcher has announced to take it: one transaction with its shard's state."""
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
            "UpdateExpression": "SET held = :target",
            "ConditionExpression": f"{WAITS} AND {as_seen}",
            "ExpressionAttributeValues": {":target": text(target)}
            | ({":seen": item["retry_at"]} if "retry_at" in item else {}),
        }
        return self._table.transact([{"ConditionCheck": announced}, {"Update": update}])

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
