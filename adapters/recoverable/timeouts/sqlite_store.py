"""`SqliteStore`: timeouts in a file or in memory, for local runs and tests; one dispatcher at a time."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from os import PathLike, fspath
from threading import Lock

from . import shards
from .ids import micros, place_of
from .shards import Shard
from .sqlite_rows import COLUMNS, KEPT, SCHEMA, STATES, row_of, told
from .store import WAITING, Claim, Kept, Row, Selection
from .timeout import VERSION, Timeout, packed

PAGE = 100
"""Rows of a page."""

KEEP_DONE = timedelta(days=1)
"""How long is known what became of a timeout that is done with."""


class SqliteStore:
    """A store in an SQLite database.

    Args:
        path: the file, made if it is missing; ":memory:" for one that ends with the process.
        page: rows of a page.
    """

    shards = 1

    def __init__(self, path: str | PathLike[str] = ":memory:", *, page: int = PAGE) -> None:
        with told():
            self._database = sqlite3.connect(fspath(path), check_same_thread=False, isolation_level=None)
            self._database.executescript(SCHEMA)
        self._page, self._lock = page, Lock()

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def put(self, timeout: Timeout, *, now: datetime, again: bool = False) -> str:
        """Store a timeout, also over one that was migrated and, if `again`, cancelled; gives what it is then."""
        place = place_of(timeout.id)
        assert place is not None, timeout.id
        fields = (timeout.to, timeout.endpoint, timeout.correlation, packed(timeout))
        row = (timeout.id, place.due, WAITING, VERSION, *fields)
        with self._transaction() as database:
            database.execute(
                "DELETE FROM timeouts WHERE id = ? AND (state = 'migrated' OR state = 'cancelled' AND ?)",
                (timeout.id, again),
            )
            database.execute(
                f"INSERT OR IGNORE INTO timeouts (id, due, {COLUMNS.removeprefix('id, ')}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608  # our own words
                row,
            )
            if self._shard() is None:
                self._set(shards.begun(place.due, micros(now)))
            [state] = database.execute("SELECT state FROM timeouts WHERE id = ?", (timeout.id,)).fetchone()
        return str(STATES.get(state, state))

    def cancel(self, timeout_id: str, *, now: datetime) -> bool:
        """Cancel a timeout; False when it is none, or may have been taken."""
        with self._transaction() as database:
            if not self._is_untaken(timeout_id):
                return False
            done = database.execute(
                "UPDATE timeouts SET state = 'cancelled', message = '', at = ? WHERE id = ? AND state IN ('waiting', 'kept')",
                (micros(now), timeout_id),
            )
            return done.rowcount == 1

    def waiting_for(self, correlation: str) -> Sequence[str]:
        """The ids of the timeouts that wait with that correlation."""
        with self._transaction() as database:
            found = database.execute(
                "SELECT id FROM timeouts WHERE correlation = ? AND correlation <> '' AND state IN ('waiting', 'kept')",
                (correlation,),
            )
            return [timeout_id for (timeout_id,) in found]

    def claim(
        self, shard: int, owner: str, *, now: datetime, until: datetime, horizon: datetime
    ) -> Claim | None:
        """Take the shard; forgets what was done with long ago."""
        with self._transaction() as database:
            database.execute(
                "DELETE FROM timeouts WHERE state IN ('dispatched', 'cancelled', 'migrated') AND at < ?",
                (micros(now - KEEP_DONE),),
            )
            found, moments = (
                self._shard(),
                {"now": micros(now), "until": micros(until), "horizon": micros(horizon)},
            )
            taken = found and shards.claimed(found, owner, **moments)
            if not taken:
                return None
            self._set(taken)
        return Claim(shard, owner, taken, moments["horizon"])

    def renew(self, claim: Claim, *, until: datetime) -> bool:
        """Keep the shard for longer; False when another has it."""
        return self._set_if_mine(claim, until=micros(until))

    def due(self, claim: Claim) -> Iterator[Sequence[Row]]:
        """What is due, and what was kept and is to be tried again, the oldest first."""
        waiting, kept = (
            "state = 'waiting' AND due <= ?",
            "state = 'kept' AND (at <= ? OR typeof(at) <> 'integer')",
        )
        yield from self._pages(f"({waiting} OR {kept})", claim.horizon, claim.horizon)

    def mark(self, rows: Sequence[Row], *, now: datetime) -> None:
        """Note that these are dispatched."""
        self._done(rows, "dispatched", now)

    def keep(self, _claim: Claim, rows: Sequence[Kept], *, retry_at: datetime) -> None:
        """Set aside what cannot be dispatched, until it is tried again."""
        with self._transaction() as database:
            database.executemany(
                "UPDATE timeouts SET state = 'kept', reason = ?, at = ? WHERE id = ? AND state IN ('waiting', 'kept')",
                [(kept.reason, micros(retry_at), kept.row.id) for kept in rows],
            )

    def release(self, claim: Claim) -> None:
        """Give the shard back."""
        self._set_if_mine(claim, owner="", until=0)

    def scan(self, selection: Selection) -> Iterator[Sequence[Row]]:
        """All that wait and fit the selection, also those that a migration holds or that are kept."""
        cutoff = micros(selection.cutoff) if selection.cutoff else 0
        one, endpoint = selection.endpoint is not None, selection.endpoint
        where = "state IN ('waiting', 'hidden', 'kept') AND due >= ? AND (endpoint = ? OR NOT ?)"
        yield from self._pages(where, cutoff, endpoint or "", one)

    def hide(self, row: Row) -> bool:
        """Hide a timeout from dispatchers, for a migration."""
        with self._transaction() as database:
            done = database.execute(
                "UPDATE timeouts SET state = 'hidden' WHERE id = ? AND (state = 'hidden' OR state = 'waiting' AND ?)",
                (row.id, self._is_untaken(row.id)),
            )
            return done.rowcount == 1

    def show(self, rows: Sequence[Row]) -> None:
        """Let dispatchers see them again."""
        with self._transaction() as database:
            database.executemany(
                "UPDATE timeouts SET state = 'waiting' WHERE id = ? AND state = 'hidden'",
                [(row.id,) for row in rows],
            )

    def mark_migrated(self, rows: Sequence[Row], *, now: datetime) -> None:
        """Note that these are elsewhere now."""
        self._done(rows, "migrated", now)

    def _done(self, rows: Sequence[Row], state: str, now: datetime) -> None:
        with self._transaction() as database:
            database.executemany(
                "UPDATE timeouts SET state = ?, message = '', at = ? WHERE id = ?",
                [(state, micros(now), row.id) for row in rows],
            )

    def _pages(self, where: str, *values: object) -> Iterator[Sequence[Row]]:
        last = ""
        while True:
            with self._transaction() as database:
                found = database.execute(
                    f"SELECT {COLUMNS} FROM timeouts WHERE {where} AND id > ? ORDER BY id LIMIT {self._page}",  # noqa: S608  # our own words
                    (*values, last),
                ).fetchall()
            if not found:
                return
            last = found[-1][0]
            yield [row_of(record) for record in found]

    def _is_untaken(self, timeout_id: str) -> bool:
        """Whether no dispatcher can have taken a timeout, if it waits; within a transaction."""
        found = self._database.execute(
            "SELECT due, state, at FROM timeouts WHERE id = ?", (timeout_id,)
        ).fetchone()
        shard = self._shard()
        if found is None or shard is None:
            return False
        due, state, at = found
        return shards.is_untaken(shard, due, at if state == KEPT and isinstance(at, int) else due)

    def _set_if_mine(self, claim: Claim, **changes: object) -> bool:
        """Change the shard's state if the claim still has it; whether it does."""
        with self._transaction():
            shard = self._shard()
            if shard is None or shard.owner != claim.owner:
                return False
            self._set(shard.__replace__(**changes))
        return True

    def _set(self, shard: Shard) -> None:
        text = json.dumps({name: getattr(shard, name) for name in Shard.__slots__})
        self._database.execute("INSERT OR REPLACE INTO shards VALUES (0, ?)", (text,))

    def _shard(self) -> Shard | None:
        found = self._database.execute("SELECT state FROM shards").fetchone()
        return Shard(**json.loads(found[0])) if found else None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, told():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")
