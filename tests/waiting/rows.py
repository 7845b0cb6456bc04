"""Build timeouts, and do what a dispatcher does with a store, without a broker."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count

from builders import seconds
from recoverable.timeouts import Store, Timeout
from recoverable.timeouts._shards import Claim
from recoverable.timeouts._store import Kept, Row, Selection
from recoverable.timeouts._timeout import new_id

NOW = datetime(2100, 3, 14, 15, 9, 26, 535_897, tzinfo=UTC)
"""Far in the future, since the servers take what expired by their own clock."""

LEASE = seconds(60)
AHEAD = seconds(120)
NUMBERS = count(1)
ALL = Selection()


def timeout(
    due_at: datetime,
    *,
    token: str | None = None,
    to: str = "orders",
    body: str = "hello",
    endpoint: str = "shop",
    correlation: str = "",
    shards: int = 1,
) -> Timeout:
    """Return a timeout that waits, with a token of its own unless one is given."""
    timeout_id = new_id(due_at, token or f"{next(NUMBERS):032x}", shards)
    return Timeout(timeout_id, to, body, endpoint=endpoint, correlation=correlation)


def stored(store: Store, due_at: datetime, **fields: str) -> Timeout:
    """Store a timeout, and return it."""
    made = timeout(due_at, shards=store.shards, **fields)
    store.put(made, now=NOW)
    return made


def scan(store: Store, selection: Selection = ALL) -> list[Row]:
    """Return all that waits and fits the selection, also what a migration holds or what is kept."""
    return [row for page in store.scan(selection) for row in page]


def claims(store: Store, now: datetime, *, owner: str = "one", ahead: timedelta = AHEAD) -> Iterator[Claim]:
    """Yield the claims of the shards that are free, each claimed when it is asked for."""
    for shard in range(store.shards):
        claim = store.claim(shard, owner, now=now, until=now + LEASE, horizon=now + ahead)
        if claim is not None:
            yield claim


def poll(store: Store, now: datetime = NOW, *, ahead: timedelta = AHEAD) -> list[Row]:
    """Return what is due, unchanged, and release the shards."""
    found = []
    for claim in claims(store, now, ahead=ahead):
        found += [row for page in store.due(claim) for row in page]
        store.release(claim)
    return sorted(found, key=lambda row: row.id)


def take(store: Store, now: datetime = NOW, *, ahead: timedelta = AHEAD) -> list[Timeout]:
    """Return what is due, in the order of due times, and mark it as dispatched."""
    found = []
    for claim in claims(store, now, ahead=ahead):
        for page in store.due(claim):
            store.mark_dispatched(page, now=now)
            found += [row.timeout for row in page if row.timeout]
        store.release(claim)
    return sorted(found, key=lambda each: each.id)


def keep(store: Store, now: datetime = NOW, *, retry_in: timedelta = timedelta(hours=1)) -> None:
    """Keep all that is due, for an hour unless another time is given."""
    for claim in claims(store, now):
        for page in store.due(claim):
            store.keep(claim, [Kept(row, "gone") for row in page], retry_at=now + retry_in)
        store.release(claim)
