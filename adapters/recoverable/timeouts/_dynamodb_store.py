"""Define `DynamoDbStore`: timeouts in one table, laid out by minute and shard, and in S3 the messages that are too large for it."""

from __future__ import annotations

import os

import recoverable.timeouts._dynamodb_items as layout
from recoverable._errors import StoreUnavailable
from recoverable._limits import checked_number
from recoverable.timeouts._dynamodb_canceller import Canceller
from recoverable.timeouts._dynamodb_reader import Reader
from recoverable.timeouts._dynamodb_shards import ShardStates
from recoverable.timeouts._dynamodb_table import Bodies, Table, aws_client, conditional
from recoverable.timeouts._shards import NOBODY, Claim
from recoverable.timeouts._store import (
    CANCELLED,
    CANCELLING,
    DISPATCHED,
    HELD,
    MIGRATED,
    PAGE,
    WAITING,
    TooLarge,
    checked_page,
)
from recoverable.timeouts._timeout import parse_id, to_microseconds

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

    from recoverable.timeouts._dynamodb_items import Item
    from recoverable.timeouts._store import Kept, Row, Selection
    from recoverable.timeouts._timeout import Timeout

SHARDS = 8
"""Parts in which each minute is stored: a part takes 1,000 writes a second (DynamoDB, partition limits). Writers and dispatchers agree on it."""

MAX_ROW = 400_000
"""The most bytes of a row's texts; DynamoDB takes 409,600 an item with the names of its attributes (DynamoDB quotas)."""

MAX_REASON = 1_000
"""The most characters of the reason why a timeout is kept."""

UNTAKEN = "horizon < :at AND (unsure = :nobody OR horizon < :due)"
"""`_shards.is_untaken` as a condition of DynamoDB."""


class DynamoDbStore:
    """A store in a DynamoDB table with the text keys `pk` and `sk`, and `expires` as its time to live.

    Args:
        table: the table's name or ARN.
        bucket: an S3 bucket for messages too large for a row; None to refuse them.
        client: a boto3 DynamoDB client, instead of one made when it is first needed.
        s3: a boto3 S3 client, likewise.
        timeout: seconds for one call, which is made twice at most.
        page: the number of items that DynamoDB examines for a page, at most 1 MB of them.

    Raises:
        TypeError: a `timeout` or `page` that is no number.
        ValueError: one out of range.
    """

    shards = SHARDS

    def __init__(
        self,
        table: str,
        *,
        bucket: str | None = None,
        client: DynamoDBClient | None = None,
        s3: S3Client | None = None,
        timeout: float = 1.0,
        page: int = PAGE,
    ) -> None:
        checked_number("DynamoDbStore(timeout)", timeout, 0.01, 60.0)
        self._page = checked_page("DynamoDbStore(page)", page)
        self._table = Table(lambda: client or aws_client("dynamodb", timeout), table)
        self._shards = ShardStates(self._table)
        self._bodies = Bodies(bucket, lambda: s3 or aws_client("s3", timeout))
        self._reader = Reader(self._table, self._shards, self._bodies, page)
        self._canceller = Canceller(self._table, self._shards, self._bodies)

    def create_table(self) -> None:
        """Create the table, for local servers. In an account let a template do it, with point-in-time recovery."""
        self._table.create()

    def put(self, timeout: Timeout, *, now: datetime, again: bool = False) -> str:
        """Store a timeout. It replaces one that was migrated, or, if `again`, one that was cancelled. Return the state that it has then.

        The pointer from its correlation is written before it, and its shard's state is checked after it.
        """
        location = parse_id(timeout.id)
        assert location is not None, timeout.id
        item = self._to_fitting_item(timeout)
        if timeout.correlation:
            self._table.put(layout.correlation_pointer(timeout.id, timeout.correlation))
        replaced = (CANCELLED, CANCELLING) if again else (MIGRATED, MIGRATED)
        values = {f":over_{nth}": outcome for nth, outcome in enumerate(replaced)}
        before = self._table.put(item, f"{layout.NEW} OR outcome = :over_0 OR outcome = :over_1", values)
        if before and timeout.correlation:  # whoever cancelled that one may have taken the new pointer away with it
            self._table.put(layout.correlation_pointer(timeout.id, timeout.correlation))
        state = self._existing_state(item) if before is None else WAITING
        if state in (WAITING, HELD):
            shard = self._shards.check_after_put(location, to_microseconds(now))
            if location.due < shard.watermark:
                self._shards.point_to(item, location.shard, location.due)
        return state

    def cancel(self, timeout_id: str, *, now: datetime) -> bool:
        """Cancel a timeout. True if it is cancelled now or was before; False when there is none, or it may have been taken."""
        return self._canceller.cancel(timeout_id, now)

    def was_scheduled(self, timeout_id: str) -> bool:
        """True if a timeout with this id is stored that was not cancelled, dispatched ones included."""
        where = layout.due_key(timeout_id)
        item = self._table.get(where) if where else None
        return item is not None and not layout.is_cancelled(item)

    def ids_by_correlation(self, correlation: str) -> Sequence[str]:
        """Return the ids of the timeouts that may wait with this correlation: their pointers are deleted after them."""
        if not correlation:
            return []
        pages = self._table.query(layout.correlation_partition(correlation), layout.NOT_FINISHED, page=self._page)
        return [item["sk"]["S"] for page in pages for item in page]

    def claim(self, shard: int, owner: str, *, now: datetime, until: datetime, horizon: datetime) -> Claim | None:
        """Claim a shard for a while; None when another has it or nothing was ever stored in it."""
        moments = {"now": to_microseconds(now), "until": to_microseconds(until), "horizon": to_microseconds(horizon)}
        state = self._shards.claim(shard, owner, **moments)
        return None if state is None else Claim(shard, owner, state, moments["horizon"])

    def renew(self, claim: Claim, *, until: datetime) -> bool:
        """Renew the lease; False when another has the shard."""
        return self._shards.renew(claim, to_microseconds(until))

    def due(self, claim: Claim) -> Iterator[Sequence[Row]]:
        """Yield what is due, the oldest first, then what was kept and is to be tried again; in pages, each read when it is needed."""
        return self._reader.due(claim)

    def mark_dispatched(self, rows: Sequence[Row], *, now: datetime) -> None:
        """Mark these as dispatched."""
        self._finish(rows, DISPATCHED, now)

    def keep(self, claim: Claim, rows: Sequence[Kept], *, retry_at: datetime) -> None:
        """Set aside what cannot be dispatched. A row that was finished since stays so; its pointer is deleted when it is looked at."""
        at, mark = to_microseconds(retry_at), os.urandom(8).hex()
        claim.next_kept_at = min(claim.next_kept_at, at)
        self._table.write([layout.kept_pointer(kept.row.native, claim.shard, at, mark) for kept in rows])
        self._shards.schedule_kept_check(claim, at)
        for kept in rows:  # last, because its minute counts as empty from now on
            values = {":at": at, ":reason": kept.reason[:MAX_REASON]}
            change = "SET retry_at = :at, reason = :reason"
            self._table.update(layout.key_of(kept.row.native), change, layout.WAITS, values)

    def release(self, claim: Claim) -> None:
        """Release the shard, and move its watermark over what was found empty, unless something was stored late."""
        self._shards.release(claim)

    def scan(self, selection: Selection) -> Iterator[Sequence[Row]]:
        """Yield all that waits and fits the selection, also what a migration holds or what is kept; in pages, in no order."""
        return self._reader.scan(selection)

    def hold_for_migration(self, row: Row, target: str = "") -> bool:
        """Hide a timeout from dispatchers; False when it is gone, or may have been taken. Rows show the target from then on.

        It is held if it waits as it was read and no dispatcher has announced to take it: one transaction with its shard's state.
        """
        location = parse_id(row.id)
        if row.held or location is None:
            return row.held
        item = row.native
        moments = {":at": layout.dispatch_time(item), ":due": layout.due_time_of(item), ":nobody": NOBODY}
        untaken = {"Key": layout.shard_key(location.shard), **conditional(UNTAKEN, moments)}
        unchanged, values = layout.as_seen(item)
        as_read = conditional(unchanged, {":target": target, **values})
        hold = {"Key": layout.key_of(item), "UpdateExpression": "SET held = :target", **as_read}
        return self._table.update_while(untaken, hold)

    def release_from_migration(self, rows: Sequence[Row]) -> None:
        """Let dispatchers see these again."""
        for row in rows:
            self._table.update(layout.key_of(row.native), "REMOVE held", layout.WAITS)

    def mark_migrated(self, rows: Sequence[Row], *, now: datetime) -> None:
        """Mark these as migrated."""
        self._finish(rows, MIGRATED, now)

    def _to_fitting_item(self, timeout: Timeout) -> Item:
        """Return the timeout's item, with its message in S3 if it does not fit. A timeout that is refused has changed nothing."""
        item = layout.to_item(timeout)
        size = sum(len(value["S"].encode()) for value in item.values() if "S" in value)
        if size <= MAX_ROW:
            return item
        if self._bodies.bucket is None:
            raise TooLarge(
                f"a timeout of {size:,} bytes; a row takes {MAX_ROW:,}. Give the store a bucket, DynamoDbStore(..., bucket='...'), or send less"
            )
        message = item.pop("message")["S"]
        return {**item, "s3": layout.text(self._bodies.put(timeout.id, message))}

    def _existing_state(self, item: Item) -> str:
        """Return the state of the timeout that exists already; an earlier try of our own may have stored it. Delete our copy of its message from S3."""
        found = self._table.get(layout.key_of(item))
        if "s3" in item and (found is None or found.get("s3") != item["s3"]):
            self._bodies.delete([item["s3"]["S"]])
        if found is None:
            raise StoreUnavailable("DynamoDB: an earlier timeout with this id was deleted just now; call again")
        if "expires" in found:
            return str(found["outcome"]["S"])
        return HELD if "held" in found else WAITING

    def _finish(self, rows: Sequence[Row], outcome: str, now: datetime) -> None:
        """Mark these as dispatched or migrated, and delete what belongs to them."""
        items = [row.native for row in rows]
        self._table.write([layout.finished_item(item, outcome, now) for item in items])
        self._table.delete([key for item in items if "retry_at" in item and (key := layout.kept_key(item["sk"]["S"]))])
        fields = [{"id": item["sk"]["S"], **layout.fields_of(item)} for item in items]
        related = [(f["id"], f["correlation"]) for f in fields if "correlation" in f]
        self._table.delete([layout.correlation_pointer(*names) for names in related])
        self._bodies.delete([f["s3"] for f in fields if "s3" in f])
