"""Store timeouts in a DynamoDB table: write the pointer before the timeout, and check the shard after it."""

from __future__ import annotations

import os

from recoverable.timeouts._ids import parse_id, to_microseconds
from recoverable.timeouts._stores.dynamodb.items import (
    MAX_ROW,
    correlation_pointer,
    kept_pointer,
    size_of,
    to_item,
    too_large_error,
    with_s3_body,
)
from recoverable.timeouts._stores.dynamodb.keys import NEW, key_of, text
from recoverable.timeouts._stores.rows import CANCELLED, CANCELLING, HELD, MIGRATED, WAITING, StoreUnavailable

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from datetime import datetime

    from recoverable.timeouts._ids import Location
    from recoverable.timeouts._stores.dynamodb.keys import Item
    from recoverable.timeouts._stores.dynamodb.shard_states import ShardStates
    from recoverable.timeouts._stores.dynamodb.table import Table
    from recoverable.timeouts._stores.s3.store import Bodies
    from recoverable.timeouts._timeout import Timeout


class Writer:
    """The writes of new timeouts to a table.

    Args:
        table: the table.
        shard_states: the states of its shards.
        bodies: the messages in S3.
    """

    __slots__ = ("_bodies", "_shards", "_table")

    def __init__(self, table: Table, shard_states: ShardStates, bodies: Bodies) -> None:
        self._table, self._shards, self._bodies = table, shard_states, bodies

    def put(self, timeout: Timeout, *, now: datetime, again: bool) -> str:
        """Store a timeout. It replaces one that was migrated, or, if `again`, one that was cancelled. Return the state that it has then."""
        location = parse_id(timeout.id)
        assert location is not None, timeout.id
        item = self._to_fitting_item(timeout)
        if timeout.correlation:
            self._table.put(correlation_pointer(timeout.id, timeout.correlation))
        before = self._write(item, again=again)
        if before and timeout.correlation:  # whoever cancelled that one may have taken the new pointer away with it
            self._table.put(correlation_pointer(timeout.id, timeout.correlation))
        state = self._existing_state(item) if before is None else WAITING
        if (
            state in (WAITING, HELD)
            and location.due < self._shards.check_after_put(location, to_microseconds(now)).watermark
        ):
            self._add_pointer(item, location)
        return state

    def _to_fitting_item(self, timeout: Timeout) -> Item:
        """Return the timeout's item, with its message in S3 if it does not fit. A timeout that is refused has changed nothing."""
        item = to_item(timeout)
        if (size := size_of(item)) <= MAX_ROW:
            return item
        if not self._bodies.is_configured:
            raise too_large_error(size)
        return with_s3_body(item, self._bodies.put(timeout.id, item["message"]["S"]))

    def _write(self, item: Item, *, again: bool) -> Item | None:
        """Write an item where there is none, or over what it replaces. Return what was there before; None when it replaces nothing."""
        replaced = (CANCELLED, CANCELLING) if again else (MIGRATED, MIGRATED)
        over = {f":over_{number}": text(outcome) for number, outcome in enumerate(replaced)}
        return self._table.replace(item, f"{NEW} OR outcome = :over_0 OR outcome = :over_1", over)

    def _existing_state(self, item: Item) -> str:
        """Return the state of the timeout that exists already; an earlier try of our own may have stored it. Delete our copy of its message from S3."""
        found = self._table.get(key_of(item))
        if "s3" in item and (found is None or found.get("s3") != item["s3"]):
            self._bodies.delete([item["s3"]["S"]])
        if found is None:
            raise StoreUnavailable("DynamoDB: an earlier timeout with this id was deleted just now; call again")
        if "expires" in found:
            return str(found["outcome"]["S"])
        return HELD if "held" in found else WAITING

    def _add_pointer(self, item: Item, location: Location) -> None:
        """Write a pointer to a timeout whose minute nobody looks at any more, so that it is looked at when it is due."""
        self._table.put(kept_pointer(item, location.shard, location.due, os.urandom(8).hex()))
        self._shards.schedule_late_check(location.shard, location.due)
