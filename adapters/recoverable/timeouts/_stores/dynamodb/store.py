"""Define `DynamoDBStore`: timeouts in one table, laid out by minute and shard, and in S3 the messages that are too large for it."""

from __future__ import annotations

from recoverable.timeouts._ids import to_microseconds
from recoverable.timeouts._stores.dynamodb.canceller import Canceller
from recoverable.timeouts._stores.dynamodb.items import is_cancelled
from recoverable.timeouts._stores.dynamodb.keys import NOT_FINISHED, due_key, pointer_partition
from recoverable.timeouts._stores.dynamodb.reader import Reader
from recoverable.timeouts._stores.dynamodb.shard_states import ShardStates
from recoverable.timeouts._stores.dynamodb.table import Table
from recoverable.timeouts._stores.dynamodb.updater import Updater
from recoverable.timeouts._stores.dynamodb.writer import Writer
from recoverable.timeouts._stores.rows import DISPATCHED, MIGRATED
from recoverable.timeouts._stores.s3.store import Bodies
from recoverable.timeouts._stores.settings import checked_call_timeout, checked_page
from recoverable.timeouts._stores.shards import Claim

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from typing import Any

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

    from recoverable.timeouts._stores.rows import Kept, Row, Selection
    from recoverable.timeouts._timeout import Timeout

SHARDS = 8
"""Parts in which each minute is stored: a part takes 1,000 writes a second (DynamoDB, partition limits). Writers and dispatchers agree on it."""

PAGE = 100
"""Items that DynamoDB examines for a page, which is 1 MB at most (Query)."""


class DynamoDBStore:
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
        checked_call_timeout("DynamoDBStore(timeout)", timeout)
        self._table = Table(lambda: client or client_of("dynamodb", timeout), table)
        self._page = checked_page("DynamoDBStore(page)", page)
        self._shards = ShardStates(self._table)
        self._bodies = Bodies(bucket, lambda: s3 or client_of("s3", timeout))
        self._writer = Writer(self._table, self._shards, self._bodies)
        self._reader = Reader(self._table, self._shards, self._bodies, page)
        self._updater = Updater(self._table, self._shards, self._bodies)
        self._canceller = Canceller(self._table, self._shards, self._bodies)

    def create_table(self) -> None:
        """Create the table, for local servers. In an account let a template do it, with point-in-time recovery."""
        self._table.create()

    def put(self, timeout: Timeout, *, now: datetime, again: bool = False) -> str:
        """Store a timeout. It replaces one that was migrated, or, if `again`, one that was cancelled. Return the state that it has then."""
        return self._writer.put(timeout, now=now, again=again)

    def cancel(self, timeout_id: str, *, now: datetime) -> bool:
        """Cancel a timeout. True if it is cancelled now or was before; False when there is none, or it may have been taken."""
        return self._canceller.cancel(timeout_id, now)

    def was_scheduled(self, timeout_id: str) -> bool:
        """True if a timeout with this id is stored that was not cancelled, dispatched ones included."""
        where = due_key(timeout_id)
        item = self._table.get(where) if where else None
        return item is not None and not is_cancelled(item)

    def ids_by_correlation(self, correlation: str) -> Sequence[str]:
        """Return the ids of the timeouts that may wait with this correlation: their pointers are deleted after them."""
        if not correlation:
            return []
        pages = self._table.query(pointer_partition(correlation), NOT_FINISHED, page=self._page)
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
        self._updater.finish(rows, DISPATCHED, now)

    def keep(self, claim: Claim, rows: Sequence[Kept], *, retry_at: datetime) -> None:
        """Set aside what cannot be dispatched, until it is tried again."""
        self._updater.keep(claim, rows, to_microseconds(retry_at))

    def release(self, claim: Claim) -> None:
        """Release the shard, and move its watermark over what was found empty, unless something was stored late."""
        self._shards.release(claim)

    def scan(self, selection: Selection) -> Iterator[Sequence[Row]]:
        """Yield all that waits and fits the selection, also what a migration holds or what is kept; in pages, in no order."""
        return self._reader.scan(selection)

    def hold_for_migration(self, row: Row, target: str = "") -> bool:
        """Hide a timeout from dispatchers; False when it is gone, or may have been taken. Rows show the target from then on."""
        return self._updater.hold_for_migration(row, target)

    def release_from_migration(self, rows: Sequence[Row]) -> None:
        """Let dispatchers see these again."""
        self._updater.release_from_migration(rows)

    def mark_migrated(self, rows: Sequence[Row], *, now: datetime) -> None:
        """Mark these as migrated."""
        self._updater.finish(rows, MIGRATED, now)


def client_of(service: str, timeout: float) -> Any:
    """Return the process's client of a service. It makes each call twice at most, which has the same effect as once."""
    from recoverable._sqs.clients import client  # made when it is first needed

    return client(service, None, timeout, 2)
