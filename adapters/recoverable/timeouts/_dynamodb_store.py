"""Define `DynamoDbStore`: timeouts in one table, laid out by minute and shard, and in S3 the messages that are too large for it.

A cancel first sets a timeout to "cancelling", which hides it from dispatchers that read it from then on. Then its shard's state is
read. If no dispatcher had announced to take the timeout, none can have it, and it is cancelled for good. Otherwise a dispatcher may
have read it before, and it waits again. A transaction of the timeout with its shard's state would do the same in one call. But DynamoDB
cancels a transaction that meets another one on the same item, and all cancels of a shard would meet there.
"""

from __future__ import annotations

import os

import recoverable.timeouts._dynamodb_items as layout
from recoverable._errors import StoreUnavailable, TooLarge
from recoverable._limits import checked_count, checked_number
from recoverable.timeouts._dynamodb_shards import ShardStates
from recoverable.timeouts._dynamodb_table import BATCH, Bodies, Table, aws_client, update_of
from recoverable.timeouts._shards import NOBODY, Claim
from recoverable.timeouts._store import CANCELLED, CANCELLING, DISPATCHED, HELD, MAX_PAGE, MIGRATED, PAGE, WAITING
from recoverable.timeouts._timeout import DIGITS, Unreadable, parse_id, to_microseconds

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from datetime import datetime

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

    from recoverable.timeouts._dynamodb_items import Item, Key
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

STEPS = 20
"""Changes of one timeout that a cancel follows before it asks to be called again; it makes two itself."""

HAS_OUTCOME = "outcome = :outcome"

LOOK_AGAIN = 300_000_000
"""Microseconds after which kept timeouts are read again, if what was tried could neither be sent nor kept: five minutes."""

MINUTES = 100
"""Minutes that are read before the caller is asked if there is time for more: half a second or so where all are empty."""

SECOND = 1_000_000
"""Microseconds of a second, in which DynamoDB counts."""

FEW = 10
"""Rows of a page with messages from S3, each up to 1 MB."""


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
        self._page = checked_count("DynamoDbStore(page)", page, MAX_PAGE, least=1)
        self._table = Table(lambda: client or aws_client("dynamodb", timeout), table)
        self._shards = ShardStates(self._table)
        self._bodies = Bodies(bucket, lambda: s3 or aws_client("s3", timeout))

    def create_table(self) -> None:
        """Create the table, for local servers. In an account let a template do it, with point-in-time recovery."""
        self._table.create()

    def put(self, timeout: Timeout, *, now: datetime, again: bool = False) -> str:
        """Store a timeout. It replaces one that was migrated, or, if `again`, one that was cancelled. Return the state that it has then.

        The pointer from its correlation is written before it, and its shard's state is checked after it.
        """
        location, item = timeout.location, self._to_fitting_item(timeout)
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
        return [item["sk"] for page in pages for item in page]

    def cancel(self, timeout_id: str, *, now: datetime) -> bool:
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
                item = (
                    self._complete_cancel(where, now) if layout.is_cancelling(item) else self._begin_cancel(item, now)
                )
            elif layout.is_cancelling(item):
                item = self._restore(item, location.shard)
            else:
                return False
        raise StoreUnavailable("DynamoDB: a timeout that is to be cancelled changes all the time; call again")

    def claim(self, shard: int, owner: str, *, now: datetime, until: datetime, horizon: datetime) -> Claim | None:
        """Claim a shard for a while; None when another has it or nothing was ever stored in it."""
        moments = {"now": to_microseconds(now), "until": to_microseconds(until), "horizon": to_microseconds(horizon)}
        state = self._shards.claim(shard, owner, **moments)
        return None if state is None else Claim(shard, owner, state, moments["horizon"])

    def renew(self, claim: Claim, *, until: datetime) -> bool:
        """Renew the lease; False when another has the shard."""
        return self._shards.renew(claim, to_microseconds(until))

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
        condition = f"begins_with(pk, :due) AND {layout.NOT_FINISHED} AND sk >= :cutoff"
        cutoff = to_microseconds(selection.cutoff) if selection.cutoff else 0
        values, names = {":due": "due#", ":cutoff": f"{cutoff:0{DIGITS}}"}, dict[str, str]()
        if selection.endpoint is not None:
            condition += " AND #endpoint = :endpoint"
            values, names = values | {":endpoint": selection.endpoint}, {"#endpoint": "endpoint"}
        for items in self._table.scan(condition, values, names):
            yield from self._to_rows(items)

    def hold_for_migration(self, row: Row, target: str = "") -> bool:
        """Hide a timeout from dispatchers; False when it is gone, or may have been taken. Rows show the target from then on.

        It is held if it waits as it was read and no dispatcher has announced to take it: one transaction with its shard's state.
        """
        location = parse_id(row.id)
        if row.held or location is None:
            return row.held
        item = row.native
        moments = {":at": layout.dispatch_time(item), ":due": layout.due_time_of(item), ":nobody": NOBODY}
        unchanged, values = layout.as_seen(item)
        hold = update_of(layout.key_of(item), "SET held = :target", unchanged, {":target": target, **values})
        return self._table.update_while(layout.shard_key(location.shard), UNTAKEN, moments, hold)

    def release_from_migration(self, rows: Sequence[Row]) -> None:
        """Let dispatchers see these again."""
        for row in rows:
            self._table.update(layout.key_of(row.native), "REMOVE held", layout.WAITS)

    def mark_migrated(self, rows: Sequence[Row], *, now: datetime) -> None:
        """Mark these as migrated."""
        self._finish(rows, MIGRATED, now)

    # storing

    def _to_fitting_item(self, timeout: Timeout) -> Item:
        """Return the timeout's item, with its message in S3 if it does not fit. A timeout that is refused has changed nothing."""
        item = layout.to_item(timeout)
        size = sum(len(text.encode()) for text in layout.texts_of(item).values())
        if size <= MAX_ROW:
            return item
        if self._bodies.bucket is None:
            raise TooLarge(
                f"a timeout of {size:,} bytes; a row takes {MAX_ROW:,}. Give the store a bucket, DynamoDbStore(..., bucket='...'), or send less"
            )
        message = item.pop("message")
        return {**item, "s3": self._bodies.put(timeout.id, message)}

    def _existing_state(self, item: Item) -> str:
        """Return the state of the timeout that exists already; an earlier try of our own may have stored it. Delete our copy of its message from S3."""
        found = self._table.get(layout.key_of(item))
        if "s3" in item and (found is None or found.get("s3") != item["s3"]):
            self._bodies.delete([item["s3"]])
        if found is None:
            raise StoreUnavailable("DynamoDB: an earlier timeout with this id was deleted just now; call again")
        if "expires" in found:
            return str(found["outcome"])
        return HELD if "held" in found else WAITING

    def _finish(self, rows: Sequence[Row], outcome: str, now: datetime) -> None:
        """Mark these as dispatched or migrated, and delete what belongs to them."""
        items: list[Item] = [row.native for row in rows]
        self._table.write([layout.finished_item(item, outcome, now) for item in items])
        self._table.delete([key for item in items if "retry_at" in item and (key := layout.kept_key(item["sk"]))])
        texts = [layout.texts_of(item) for item in items]
        related = [(each["sk"], each["correlation"]) for each in texts if "correlation" in each]
        self._table.delete([layout.correlation_pointer(*names) for names in related])
        self._bodies.delete([each["s3"] for each in texts if "s3" in each])

    # cancelling

    def _begin_cancel(self, item: Item, now: datetime) -> Item | None:
        """Hide a timeout that waits as it was read. Return it as it is then; None when it has changed."""
        unchanged, values = layout.as_seen(item)
        condition = f"{unchanged} AND attribute_not_exists(held)"
        values = {":outcome": CANCELLING, ":expires": layout.expiry(now), **values}
        change = "SET outcome = :outcome, expires = :expires"
        return self._table.update(layout.key_of(item), change, condition, values, ReturnValues="ALL_NEW")

    def _complete_cancel(self, where: Key, now: datetime) -> Item | None:
        """Cancel a hidden timeout for good. Return it as it is then; None when it has changed."""
        change = "SET outcome = :to, expires = :expires REMOVE message, retry_at, reason"
        values = {":outcome": CANCELLING, ":to": CANCELLED, ":expires": layout.expiry(now)}
        return self._table.update(where, change, HAS_OUTCOME, values, ReturnValues="ALL_NEW")

    def _restore(self, item: Item, shard: int) -> Item | None:
        """Let a hidden timeout wait again. Return it as it is then; None when it has changed.

        A pointer to it comes first: meanwhile its minute may have counted as empty.
        """
        self._shards.point_to(item, shard, layout.dispatch_time(item))
        change, values = "REMOVE outcome, expires", {":outcome": CANCELLING}
        return self._table.update(layout.key_of(item), change, HAS_OUTCOME, values, ReturnValues="ALL_NEW")

    def _delete_related(self, item: Item) -> None:
        """Take the pointer from the correlation away, unless the timeout was stored again meanwhile, and the message from S3.

        An error is logged and not raised: the timeout is cancelled all the same.
        """
        texts = layout.texts_of(item)
        try:
            if "correlation" in texts:
                pointer = layout.correlation_pointer(item["sk"], texts["correlation"])
                expired = update_of(pointer, "SET expires = :expires", None, {":expires": item["expires"]})
                self._table.update_while(layout.key_of(item), HAS_OUTCOME, {":outcome": CANCELLED}, expired)
            self._bodies.delete([texts["s3"]] if "s3" in texts else [])
        except StoreUnavailable as error:
            import logging  # seldom needed

            from recoverable._observe.log import log_safely  # seldom needed

            log = logging.getLogger("recoverable.timeouts")
            words = "What belongs to timeout '%s' could not be deleted: %s. It is cancelled all the same."
            log_safely(log.warning, words, item["sk"], error)

    # reading

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
        now = {item["sk"]: layout.pointer_target(item) for item in kept if layout.retry_time(item) < horizon}
        items = self._table.get_all([where for where in now.values() if where])
        waiting = {item["sk"]: item for item in items if "expires" not in item}
        needed = waiting.keys() | {item["sk"] for item in items if layout.is_cancelling(item)}
        for item in kept:
            if item["sk"] in now.keys() - needed:
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


def may_be_cancelled(item: Item) -> bool:
    """True if a timeout waits, or is being cancelled. One that a migration holds may be at its target."""
    return layout.is_cancelling(item) or ("expires" not in item and "held" not in item)


def next_check(item: Item, horizon: int) -> int:
    """Return when a kept timeout is to be looked at next: a while after the horizon for one that is tried now, whatever becomes of it."""
    at = layout.retry_time(item)
    return at if at >= horizon else horizon + LOOK_AGAIN
