"""`DynamoDBStore`: timeouts in one table, laid out by the minute and in shards; messages too large for it in S3."""

from __future__ import annotations

from datetime import timedelta
from functools import cache

from . import shards
from .dynamodb_items import (
    MAX_ROW,
    done_item,
    due_key,
    in_bucket,
    item_of,
    kept_item,
    kept_key,
    key_in,
    number,
    pointer,
    pointer_partition,
    shard_key,
    size_of,
    text,
    too_large,
)
from .dynamodb_reading import Reading
from .dynamodb_shards import NEW, ShardStates
from .dynamodb_table import Table
from .ids import micros, place_of
from .s3_store import Bodies, impatient, s3_client
from .store import CANCELLED, DISPATCHED, HELD, MIGRATED, WAITING, Claim

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

    from .dynamodb_items import Item
    from .ids import Place
    from .store import Kept, Row, Selection
    from .timeout import Timeout

SHARDS = 8
"""Parts in which each minute is stored: a part takes 1,000 writes a second (DynamoDB, partition limits). Writers and dispatchers agree on it."""

PAGE = 100
"""Items that are looked at for a page; DynamoDB makes one of 1 MB at most (Query)."""

KEEP_DONE = timedelta(days=1)
"""How long is known what became of a timeout that is done with."""

WAITS = "attribute_exists(pk) AND attribute_not_exists(expires)"


class DynamoDBStore:
    """A store in a DynamoDB table with the text keys `pk` and `sk`, and `expires` as its time to live.

    Args:
        table: the table's name or ARN.
        bucket: an S3 bucket for messages too large for a row; None to refuse them.
        client: a boto3 DynamoDB client, instead of one made when it is first needed.
        s3: a boto3 S3 client, likewise.
        patience: seconds for one call, which is made twice at most.
        page: how many items are looked at for a page, at most 1 MB of them.
    """

    shards = SHARDS

    def __init__(
        self,
        table: str,
        *,
        bucket: str | None = None,
        client: DynamoDBClient | None = None,
        s3: S3Client | None = None,
        patience: float = 1.0,
        page: int = PAGE,
    ) -> None:
        self._table = Table(lambda: client or dynamodb_client(patience), table)
        self._page, self._shards = page, ShardStates(self._table)
        self._bodies = Bodies(bucket, lambda: s3 or s3_client(patience))
        self._reading = Reading(self._table, self._shards, self._bodies, page)

    def create_table(self) -> None:
        """Make the table, for local servers; in an account let a template do it, with point-in-time recovery."""
        self._table.create()

    def put(self, timeout: Timeout, *, now: datetime, again: bool = False) -> str:
        """Store a timeout, also over one that was migrated and, if `again`, cancelled; gives what it is then.

        What points to it is written before it, and its shard is looked at after it: see `shards.py`.
        """
        place = place_of(timeout.id)
        assert place is not None, timeout.id
        item = item_of(timeout)
        if (size := size_of(item)) > MAX_ROW:
            if not self._bodies.there:
                raise too_large(size)
            item = in_bucket(item, self._bodies.put(timeout.id, item["message"]["S"]))
        if timeout.correlation:
            self._table.put(pointer(timeout.id, timeout.correlation), NEW)
        if not self._written(item, again=again) and (there := self._state(item)):
            return there
        state = self._shards.after_put(place, micros(now))
        if place.due < state.watermark:
            self._set_aside(item, place)
        return WAITING

    def cancel(self, timeout_id: str, *, now: datetime) -> bool:
        """Cancel a timeout; False when it is none, or may have been taken."""
        places = [where for where in (due_key(timeout_id), kept_key(timeout_id)) if where]
        found = [item for where in places if (item := self._table.get(where)) and "expires" not in item]
        done = [item for item in found if self._cancelled(item, now)]
        self._forget([(timeout_id, item) for item in done])
        return bool(found) and len(done) == len(found)

    def waiting_for(self, correlation: str) -> Sequence[str]:
        """The ids of the timeouts that wait with that correlation, or may: what points to them is taken away after them."""
        if not correlation:
            return []
        pages = self._table.query(pointer_partition(correlation), page=self._page)
        return [item["sk"]["S"] for page in pages for item in page]

    def claim(
        self, shard: int, owner: str, *, now: datetime, until: datetime, horizon: datetime
    ) -> Claim | None:
        """Take a shard for a while; None when another has it or nothing was ever stored in it."""
        moments = {"now": micros(now), "until": micros(until), "horizon": micros(horizon)}
        state = self._shards.change(shard, lambda found: found and shards.claimed(found, owner, **moments))
        return None if state is None else Claim(shard, owner, state, moments["horizon"])

    def renew(self, claim: Claim, *, until: datetime) -> bool:
        """Keep the shard for longer; False when another has it."""
        change = lambda shard: shard and shards.renewed(shard, claim.owner, until=micros(until))  # noqa: E731
        return self._shards.change(claim.shard, change) is not None

    def due(self, claim: Claim) -> Iterator[Sequence[Row]]:
        """What is due, the oldest first, then what was kept and is to be tried again; in pages, each read when asked for."""
        return self._reading.due(claim)

    def mark(self, rows: Sequence[Row], *, now: datetime) -> None:
        """Note that these are dispatched."""
        self._done(rows, DISPATCHED, now)

    def keep(self, claim: Claim, rows: Sequence[Kept], *, retry_at: datetime) -> None:
        """Set aside what cannot be dispatched, until it is tried again: written there before it is taken from here."""
        at = micros(retry_at)
        claim.next_kept = min(claim.next_kept, at)
        again = [kept for kept in rows if kept.row.kept]
        first = [kept for kept in rows if not kept.row.kept]
        self._table.write([kept_item(kept.row.native, claim.shard, kept.reason, at) for kept in first])
        for kept in again:  # unless it is done with since
            self._table.put(kept_item(kept.row.native, claim.shard, kept.reason, at), WAITS)
        self._shards.change(claim.shard, lambda shard: shard and shards.to_try_kept(shard, at))
        self._table.delete([key_in(kept.row.native) for kept in first])

    def release(self, claim: Claim) -> None:
        """Give the shard back; what was read and found empty is passed, unless something came late."""
        self._shards.change(
            claim.shard,
            lambda shard: (
                shard and shards.released(shard, claim.owner, passed=claim.passed, late=claim.state.late)
            ),
        )

    def scan(self, selection: Selection) -> Iterator[Sequence[Row]]:
        """All that wait and fit the selection, also those that a migration holds or that are kept; in pages, in no order."""
        return self._reading.scan(selection)

    def hide(self, row: Row) -> bool:
        """Hide a timeout from dispatchers, for a migration; False when it is gone, or may have been taken."""
        if row.hidden:
            return True
        change = {"UpdateExpression": "SET held = :yes", "ConditionExpression": WAITS}
        return self._untaken(row.native, change, {":yes": number(1)})

    def show(self, rows: Sequence[Row]) -> None:
        """Let dispatchers see them again."""
        for row in rows:
            self._table.update(key_in(row.native), UpdateExpression="REMOVE held", ConditionExpression=WAITS)

    def mark_migrated(self, rows: Sequence[Row], *, now: datetime) -> None:
        """Note that these are elsewhere now."""
        self._done(rows, MIGRATED, now)

    def _untaken(self, item: Item, change: Item, values: Item) -> bool:
        """Change a timeout that waits, if no dispatcher has announced to take it: one transaction with its shard's state."""
        place = place_of(item["sk"]["S"])
        if place is None:
            return False
        announced = {
            "Key": shard_key(place.shard),
            "ConditionExpression": "horizon < :at",
            "ExpressionAttributeValues": {":at": item.get("retry_at", number(place.due))},
        }
        update = {"Key": key_in(item), **change, "ExpressionAttributeValues": values}
        return self._table.transact([{"ConditionCheck": announced}, {"Update": update}]) == []

    def _cancelled(self, item: Item, now: datetime) -> bool:
        values = {":outcome": text(CANCELLED), ":expires": number(expiry(now))}
        condition = f"{WAITS} AND attribute_not_exists(held)"
        if "retry_at" in item:
            condition, values = f"{condition} AND retry_at = :seen", values | {":seen": item["retry_at"]}
        change = {
            "UpdateExpression": "SET outcome = :outcome, expires = :expires REMOVE message",
            "ConditionExpression": condition,
        }
        return self._untaken(item, change, values)

    def _done(self, rows: Sequence[Row], outcome: str, now: datetime) -> None:
        self._table.write([done_item(row.native, outcome, expiry(now)) for row in rows])
        self._forget([(row.id, row.native) for row in rows])

    def _forget(self, done: Sequence[tuple[str, Item]]) -> None:
        """Take away what points to timeouts that are done with, and their messages in S3."""
        self._table.delete(
            [
                pointer(timeout_id, item["correlation"]["S"])
                for timeout_id, item in done
                if "correlation" in item
            ]
        )
        self._bodies.delete([item["s3"]["S"] for _, item in done if "s3" in item])

    def _written(self, item: Item, *, again: bool) -> bool:
        over = {":one": text(MIGRATED), ":other": text(CANCELLED if again else MIGRATED)}
        return self._table.put(item, f"{NEW} OR outcome IN (:one, :other)", over)

    def _state(self, item: Item) -> str | None:
        """What a timeout is that was there; None when it waits where it is looked for."""
        found = self._table.get(key_in(item))
        if found is None:
            return WAITING  # it was set aside since
        outcome: str | None = found["outcome"]["S"] if "expires" in found else None
        return HELD if "held" in found else outcome

    def _set_aside(self, item: Item, place: Place) -> None:
        """Keep until it is due what lies where nobody looks any more: written there before it is taken from here."""
        self._table.write([kept_item(item, place.shard, "its minute was over", place.due)])
        self._shards.change(place.shard, lambda shard: shard and shards.set_aside(shard, place.due))
        self._table.delete([key_in(item)])


@cache
def dynamodb_client(patience: float) -> DynamoDBClient:
    """The process's client, made when it is first needed.

    Args:
        patience: seconds for one call.
    """
    import boto3

    client: DynamoDBClient = boto3.client("dynamodb", config=impatient(patience))
    return client


def expiry(now: datetime) -> int:
    """When what is done with may go, in seconds since 1970."""
    return int((now + KEEP_DONE).timestamp())
