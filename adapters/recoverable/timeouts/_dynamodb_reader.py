"""Read from a DynamoDB table what is due, what was kept, and all that waits: page by page, so that memory stays bounded."""

from __future__ import annotations

import recoverable.timeouts._dynamodb_items as layout
from recoverable.timeouts._dynamodb_table import BATCH
from recoverable.timeouts._timeout import DIGITS, Unreadable, to_microseconds

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from recoverable.timeouts._dynamodb_items import Item
    from recoverable.timeouts._dynamodb_shards import ShardStates
    from recoverable.timeouts._dynamodb_table import Bodies, Table
    from recoverable.timeouts._shards import Claim
    from recoverable.timeouts._store import Row, Selection

LOOK_AGAIN = 300_000_000
"""Microseconds after which kept timeouts are read again, if what was tried could neither be sent nor kept: five minutes."""

MINUTES = 100
"""Minutes that are read before the caller is asked if there is time for more: half a second or so where all are empty."""

SECOND = 1_000_000
"""Microseconds of a second, in which DynamoDB counts."""

FEW = 10
"""Rows of a page with messages from S3, each up to 1 MB."""


class Reader:
    """The reads of a table.

    Args:
        table: the table.
        shard_states: the states of its shards.
        bodies: the messages in S3.
        page: the number of items that DynamoDB examines for a page.
    """

    __slots__ = ("_bodies", "_page", "_shards", "_table")

    def __init__(self, table: Table, shard_states: ShardStates, bodies: Bodies, page: int) -> None:
        self._table, self._shards, self._bodies, self._page = table, shard_states, bodies, page

    def due(self, claim: Claim) -> Iterator[Sequence[Row]]:
        """Yield what is due, the oldest first, then what was kept and is to be tried again; in pages, each read when it is needed.

        An empty page now and then lets the caller renew its lease, or stop. The claim records how far everything was found empty.
        """
        empty = True  # so far
        buckets = range(layout.bucket_of(claim.state.watermark), layout.bucket_of(claim.horizon) + 1)
        for read, bucket in enumerate(buckets, 1):
            waits = yield from self._due_in_minute(claim, bucket)
            empty = empty and not waits
            if empty:
                claim.empty_until = layout.end_of(bucket)
            if read % MINUTES == 0:
                yield []
        if claim.state.kept_at <= claim.horizon:
            yield from self._kept_due(claim)

    def _due_in_minute(self, claim: Claim, bucket: int) -> Generator[Sequence[Row], None, bool]:
        """Yield what is due in a minute. Return True if something is left in it, or may still be stored in it."""
        # what sorts before this id is due
        before = None if layout.is_past(bucket, claim.horizon) else f"{claim.horizon + 1:0{DIGITS}}"
        partition = layout.due_partition(bucket, claim.shard)
        found = False
        for items in self._table.query(partition, layout.IN_ITS_MINUTE, before=before, page=self._page):
            found = True
            yield from self._to_rows([item for item in items if "held" not in item])
        may_come = not layout.is_past(bucket, claim.state.taken_at)
        return may_come or (found and any(self._table.query(partition, layout.IN_ITS_MINUTE)))

    def scan(self, selection: Selection) -> Iterator[Sequence[Row]]:
        """Yield all that waits and fits the selection, also what a migration holds or what is kept; in pages, in no order."""
        condition = f"begins_with(pk, :due) AND {layout.NOT_FINISHED} AND sk >= :cutoff"
        cutoff = to_microseconds(selection.cutoff) if selection.cutoff else 0
        values = {":due": layout.text("due#"), ":cutoff": layout.text(f"{cutoff:0{DIGITS}}")}
        names: dict[str, str] = {}
        if selection.endpoint is not None:
            condition += " AND #endpoint = :endpoint"
            values, names = values | {":endpoint": layout.text(selection.endpoint)}, {"#endpoint": "endpoint"}
        for items in self._table.scan(condition, values, names):
            yield from self._to_rows(items)

    def _kept_due(self, claim: Claim) -> Iterator[Sequence[Row]]:
        """Yield the timeouts with a pointer that are to be tried again; in batches, because each can be as large as a row."""
        for page in self._table.query(layout.kept_partition(claim.shard), layout.NOT_FINISHED, page=self._page):
            claim.next_kept_at = min(claim.next_kept_at, *(next_check(item, claim.horizon) for item in page))
            for start in range(0, len(page), BATCH):
                yield from self._to_rows(self._follow_pointers(page[start : start + BATCH], claim.horizon))
        self._shards.finish_kept_check(claim)

    def _follow_pointers(self, kept: list[Item], horizon: int) -> list[Item]:
        """Return the timeouts that are to be tried until the horizon, and expire pointers to timeouts that are finished or gone.

        A timeout that is being cancelled may wait again at any moment, so its pointer stays.
        """
        now = {item["sk"]["S"]: layout.pointer_target(item) for item in kept if layout.retry_time(item) < horizon}
        items = list(self._table.get_all([where for where in now.values() if where]))
        waiting = {item["sk"]["S"]: item for item in items if "expires" not in item}
        needed = waiting.keys() | {item["sk"]["S"] for item in items if layout.is_cancelling(item)}
        for item in kept:
            if item["sk"]["S"] in now.keys() - needed:
                self._expire_pointer(item, horizon)
        free = [item for _, item in sorted(waiting.items()) if "held" not in item]
        return [item for item in free if layout.dispatch_time(item) <= horizon]

    def _expire_pointer(self, kept: Item, horizon: int) -> None:
        """Leave a pointer without a target to the time to live, unless it was written again since."""
        seen = {":seen": kept["mark"]} if "mark" in kept else {}
        unchanged = "mark = :seen" if seen else "attribute_not_exists(mark)"
        values = {":now": horizon // SECOND, **seen}
        self._table.update(layout.key_of(kept), "SET expires = :now", unchanged, values)

    def _to_rows(self, items: list[Item]) -> Iterator[Sequence[Row]]:
        at_once = FEW if any("s3" in item for item in items) else len(items)
        for start in range(0, len(items), at_once or 1):
            found = [self._to_row(item) for item in items[start : start + at_once]]
            yield [row for row in found if row is not None]

    def _to_row(self, item: Item) -> Row | None:
        """Return the item as a row; None when its message is gone from S3 because it was dispatched after it was read here."""
        message = self._bodies.read_message(item)
        if "s3" in item and isinstance(message, Unreadable):
            current = self._table.get(layout.key_of(item))
            if current is None or "expires" in current:
                return None
        return layout.to_row(item, message)


def next_check(item: Item, horizon: int) -> int:
    """Return when a kept timeout is to be looked at next: a while after the horizon for one that is tried now, whatever becomes of it."""
    at = layout.retry_time(item)
    return at if at >= horizon else horizon + LOOK_AGAIN
