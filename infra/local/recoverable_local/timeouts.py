"""Keep timeouts in a file or in memory, for local runs and tests; one dispatcher at a time."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from os import PathLike, fspath
from threading import Lock
from weakref import finalize

import recoverable.timeouts._shards as shards
from recoverable._limits import checked_count
from recoverable.timeouts import Row, StoreUnavailable, Timeout
from recoverable.timeouts._shards import Claim, Shard
from recoverable.timeouts._store import (
    CANCELLED,
    DISPATCHED,
    HELD,
    KEEP_FINISHED,
    MAX_PAGE,
    MIGRATED,
    PAGE,
    WAITING,
    Kept,
    Selection,
)
from recoverable.timeouts._timeout import VERSION, Unreadable, dump_message, load_timeout, to_microseconds

__all__ = ["SqliteStore"]

HIDDEN, KEPT = "hidden", "kept"
PORT_STATES = {HIDDEN: HELD, KEPT: WAITING}
"""The port's names for states that the table names otherwise."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS timeouts (
    id TEXT PRIMARY KEY, due INTEGER NOT NULL, state TEXT NOT NULL, version INTEGER NOT NULL, destination TEXT NOT NULL,
    endpoint TEXT NOT NULL, correlation TEXT NOT NULL, message TEXT NOT NULL, reason TEXT NOT NULL DEFAULT '', at INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS by_state ON timeouts (state, id);
CREATE INDEX IF NOT EXISTS by_correlation ON timeouts (correlation) WHERE correlation <> '';
CREATE TABLE IF NOT EXISTS shards (number INTEGER PRIMARY KEY, state TEXT NOT NULL);
"""
INSERT = """
INSERT OR IGNORE INTO timeouts (id, due, state, version, destination, endpoint, correlation, message) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
CANCEL = "UPDATE timeouts SET state = 'cancelled', message = '', at = ? WHERE id = ? AND state IN ('waiting', 'kept')"
KEEP = "UPDATE timeouts SET state = 'kept', reason = ?, at = ? WHERE id = ? AND state IN ('waiting', 'kept')"
HOLD = "UPDATE timeouts SET state = 'hidden', reason = ? WHERE id = ? AND (state = 'hidden' OR state = 'waiting' AND ?)"
RELEASE = "UPDATE timeouts SET state = 'waiting', reason = '' WHERE id = ? AND state = 'hidden'"
FINISH = "UPDATE timeouts SET state = ?, message = '', at = ? WHERE id = ?"
DELETE_EXPIRED = "DELETE FROM timeouts WHERE state IN ('dispatched', 'cancelled', 'migrated') AND at < ?"
DELETE_REPLACEABLE = "DELETE FROM timeouts WHERE id = ? AND state = ?"
CORRELATED = "SELECT id FROM timeouts WHERE correlation = ? AND correlation <> '' AND state IN ('waiting', 'kept')"
PAGE_OF = """
SELECT id, state, version, destination, endpoint, correlation, message, reason FROM timeouts WHERE {} AND id > ? ORDER BY id LIMIT ?
"""

DUE = "state = 'waiting' AND due <= ?"
RETRY_DUE = "state = 'kept' AND (at < ? OR typeof(at) <> 'integer')"
SELECTED = "state IN ('waiting', 'hidden', 'kept') AND due >= ? AND (endpoint = ? OR NOT ?)"


class SqliteStore:
    """A store in an SQLite database, used by one thread at a time.

    Args:
        path: the file, made if it is missing; ":memory:" for one that ends with the process.
        page: rows of a page.

    Raises:
        StoreUnavailable: the file cannot be opened or made.
        TypeError: a `page` that is not a whole number.
        ValueError: a `page` below 1.
    """

    shards = 1

    def __init__(self, path: str | PathLike[str] = ":memory:", *, page: int = PAGE) -> None:
        self._page, self._lock = checked_count("SqliteStore(page)", page, MAX_PAGE, least=1), Lock()
        with as_store_errors():
            self._database = sqlite3.connect(fspath(path), check_same_thread=False, isolation_level=None)
            finalize(self, self._database.close)  # most stores live as long as something needs them
            self._database.executescript(SCHEMA)

    def close(self) -> None:
        """Close the database now, and not when the store is garbage collected."""
        self._database.close()

    def put(self, timeout: Timeout, *, now: datetime, again: bool = False) -> str:
        """Store a timeout. It replaces one that was migrated, or, if `again`, one that was cancelled. Return the state that it has then."""
        due = timeout.location.due
        fields = (timeout.to, timeout.endpoint, timeout.correlation, dump_message(timeout))
        with self._transaction() as database:
            database.execute(DELETE_REPLACEABLE, (timeout.id, CANCELLED if again else MIGRATED))
            database.execute(INSERT, (timeout.id, due, WAITING, VERSION, *fields))
            if self._read_shard() is None:
                self._write_shard(shards.new_shard(due, to_microseconds(now)))
            state = str(self._state_of(timeout.id))
        return PORT_STATES.get(state, state)

    def cancel(self, timeout_id: str, *, now: datetime) -> bool:
        """Cancel a timeout. True if it is cancelled now or was before; False when there is none, or it may have been taken."""
        with self._transaction() as database:
            if self._is_untaken(timeout_id):
                database.execute(CANCEL, (to_microseconds(now), timeout_id))
            return self._state_of(timeout_id) == CANCELLED

    def was_scheduled(self, timeout_id: str) -> bool:
        """True if a timeout with this id is stored that was not cancelled, dispatched ones included."""
        with self._transaction():
            return self._state_of(timeout_id) not in (None, CANCELLED)

    def ids_by_correlation(self, correlation: str) -> Sequence[str]:
        """Return the ids of the timeouts that wait with this correlation."""
        with self._transaction() as database:
            return [timeout_id for (timeout_id,) in database.execute(CORRELATED, (correlation,))]

    def claim(self, shard: int, owner: str, *, now: datetime, until: datetime, horizon: datetime) -> Claim | None:
        """Claim the shard, and delete what was finished long ago; None when another has it or nothing was ever stored."""
        moments = {"now": to_microseconds(now), "until": to_microseconds(until), "horizon": to_microseconds(horizon)}
        with self._transaction() as database:
            database.execute(DELETE_EXPIRED, (to_microseconds(now - KEEP_FINISHED),))
            found = self._read_shard()
            taken = found and shards.claim_shard(found, owner, **moments)
            if not taken:
                return None
            self._write_shard(taken)
        return Claim(shard, owner, taken, moments["horizon"])

    def renew(self, claim: Claim, *, until: datetime) -> bool:
        """Renew the lease; False when another has the shard."""
        return self._update_if_owner(claim, until=to_microseconds(until))

    def due(self, claim: Claim) -> Iterator[Sequence[Row]]:
        """Yield what is due, the oldest first, then what was kept and is to be tried again."""
        yield from self._pages(DUE, claim.horizon)
        yield from self._pages(RETRY_DUE, claim.horizon)

    def mark_dispatched(self, rows: Sequence[Row], *, now: datetime) -> None:
        """Mark these as dispatched."""
        self._execute_each(FINISH, [(DISPATCHED, to_microseconds(now), row.id) for row in rows])

    def keep(self, _claim: Claim, rows: Sequence[Kept], *, retry_at: datetime) -> None:
        """Set aside what cannot be dispatched, until it is tried again."""
        self._execute_each(KEEP, [(kept.reason, to_microseconds(retry_at), kept.row.id) for kept in rows])

    def release(self, claim: Claim) -> None:
        """Release the shard."""
        self._update_if_owner(claim, **shards.changes_on_release(claim))

    def scan(self, selection: Selection) -> Iterator[Sequence[Row]]:
        """Yield all that waits and fits the selection, also what a migration holds or what is kept."""
        cutoff = to_microseconds(selection.cutoff) if selection.cutoff else 0
        yield from self._pages(SELECTED, cutoff, selection.endpoint or "", selection.endpoint is not None)

    def hold_for_migration(self, row: Row, target: str = "") -> bool:
        """Hide a timeout from dispatchers; False when it is gone, or may have been taken. Rows show the target from then on."""
        with self._transaction() as database:
            return database.execute(HOLD, (target, row.id, self._is_untaken(row.id))).rowcount == 1

    def release_from_migration(self, rows: Sequence[Row]) -> None:
        """Let dispatchers see these again."""
        self._execute_each(RELEASE, [(row.id,) for row in rows])

    def mark_migrated(self, rows: Sequence[Row], *, now: datetime) -> None:
        """Mark these as migrated."""
        self._execute_each(FINISH, [(MIGRATED, to_microseconds(now), row.id) for row in rows])

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Do all of what is executed within, or nothing of it.

        Raises:
            StoreUnavailable: nothing of it is done.
        """
        with self._lock, as_store_errors():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
                self._database.execute("COMMIT")  # which another's read can hold up for too long
            except BaseException:
                self._database.rollback()
                raise

    def _execute_each(self, statement: str, values: Sequence[Sequence[object]]) -> None:
        with self._transaction() as database:
            database.executemany(statement, values)

    def _pages(self, where: str, *values: object) -> Iterator[Sequence[Row]]:
        last = ""
        while True:
            with self._transaction() as database:
                found = database.execute(PAGE_OF.format(where), (*values, last, self._page)).fetchall()
            if not found:
                return
            last = found[-1][0]
            yield [row_of_record(record) for record in found]

    def _update_if_owner(self, claim: Claim, **changes: object) -> bool:
        """Change the shard's state if the claim still has it. True if it does."""
        with self._transaction():
            shard = self._read_shard()
            if shard is None or shard.owner != claim.owner:
                return False
            self._write_shard(shard.__replace__(**changes))
        return True

    # the rest is called within a transaction

    def _read_shard(self) -> Shard | None:
        """Return the state of the one shard; None while nothing was ever stored."""
        found = self._database.execute("SELECT state FROM shards").fetchone()
        return Shard(**json.loads(found[0])) if found else None

    def _write_shard(self, shard: Shard) -> None:
        text = json.dumps({name: getattr(shard, name) for name in sorted(vars(shard))})
        self._database.execute("INSERT OR REPLACE INTO shards VALUES (0, ?)", (text,))

    def _state_of(self, timeout_id: str) -> str | None:
        """Return a timeout's state in the table's words; None when there is none."""
        found = self._database.execute("SELECT state FROM timeouts WHERE id = ?", (timeout_id,)).fetchone()
        return str(found[0]) if found else None

    def _is_untaken(self, timeout_id: str) -> bool:
        """True if no dispatcher can have taken this timeout, if it waits."""
        found = self._database.execute("SELECT due, state, at FROM timeouts WHERE id = ?", (timeout_id,)).fetchone()
        shard = self._read_shard()
        if found is None or shard is None:
            return False
        due, state, at = found
        return shards.is_untaken(shard, due, at if state == KEPT and isinstance(at, int) else due)


@contextmanager
def as_store_errors() -> Iterator[None]:
    """Raise SQLite's errors as the port's."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreUnavailable(f"SQLite: {error}") from error


def row_of_record(record: tuple[str, str, int, str, str, str, str, str]) -> Row:
    """Return a record of the table as a row."""
    timeout_id, state, version, to, endpoint, correlation, message, reason = record
    held = state == HIDDEN
    made = partial(Row, timeout_id, kept=state == KEPT, held=held, held_for=reason if held else "")
    fields = {"version": version, "to": to, "endpoint": endpoint, "correlation": correlation}
    try:
        return made(load_timeout(timeout_id, fields, message))
    except Unreadable as error:
        return made(None, problem=str(error))
