"""Define `SqliteStore`: timeouts in a file or in memory, for local runs and tests; one dispatcher at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from os import PathLike, fspath

from recoverable.timeouts._ids import parse_id, to_microseconds
from recoverable.timeouts._stores import shards
from recoverable.timeouts._stores.rows import CANCELLED, MIGRATED, WAITING, Kept, Row, Selection
from recoverable.timeouts._stores.settings import checked_page
from recoverable.timeouts._stores.shards import Claim
from recoverable.timeouts._stores.sqlite.database import Database
from recoverable.timeouts._stores.sqlite.rows import (
    CANCEL,
    COLUMNS,
    DELETE_EXPIRED,
    DELETE_REPLACEABLE,
    DUE,
    FINISH,
    HOLD,
    INSERT,
    KEEP,
    KEPT,
    RELEASE,
    RETRY_DUE,
    SELECTED,
    STATES,
    WITH_CORRELATION,
    to_row,
)
from recoverable.timeouts._timeout import VERSION, Timeout, dump_message

PAGE = 100
"""Rows of a page."""

KEEP_FINISHED = timedelta(days=1)
"""How long the outcome of a finished timeout is kept."""


class SqliteStore:
    """A store in an SQLite database.

    Args:
        path: the file, made if it is missing; ":memory:" for one that ends with the process.
        page: rows of a page.

    Raises:
        StoreUnavailable: the file cannot be opened or made.
        TypeError: a `page` that is no number.
        ValueError: one less than 1.
    """

    shards = 1

    def __init__(self, path: str | PathLike[str] = ":memory:", *, page: int = PAGE) -> None:
        self._page = checked_page("SqliteStore(page)", page)
        self._database = Database(fspath(path))

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def put(self, timeout: Timeout, *, now: datetime, again: bool = False) -> str:
        """Store a timeout. It replaces one that was migrated, or, if `again`, one that was cancelled. Return the state that it has then."""
        location = parse_id(timeout.id)
        assert location is not None, timeout.id
        fields = (timeout.to, timeout.endpoint, timeout.correlation, dump_message(timeout))
        row = (timeout.id, location.due, WAITING, VERSION, *fields)
        with self._database.transaction():
            self._database.execute(DELETE_REPLACEABLE, (timeout.id, CANCELLED if again else MIGRATED))
            self._database.execute(INSERT, row)
            if self._database.shard is None:
                self._database.shard = shards.new_shard(location.due, to_microseconds(now))
            state = self._state_of(timeout.id)
        return str(STATES.get(str(state), state))

    def cancel(self, timeout_id: str, *, now: datetime) -> bool:
        """Cancel a timeout. True if it is cancelled now or was before; False when there is none, or it may have been taken."""
        with self._database.transaction():
            if self._is_untaken(timeout_id):
                self._database.execute(CANCEL, (to_microseconds(now), timeout_id))
            return self._state_of(timeout_id) == CANCELLED

    def was_scheduled(self, timeout_id: str) -> bool:
        """True if a timeout with this id is stored that was not cancelled, dispatched ones included."""
        with self._database.transaction():
            return self._state_of(timeout_id) not in (None, CANCELLED)

    def ids_by_correlation(self, correlation: str) -> Sequence[str]:
        """Return the ids of the timeouts that wait with this correlation."""
        with self._database.transaction():
            return [timeout_id for (timeout_id,) in self._database.execute(WITH_CORRELATION, (correlation,))]

    def claim(self, shard: int, owner: str, *, now: datetime, until: datetime, horizon: datetime) -> Claim | None:
        """Claim the shard, and delete what was finished long ago; None when another has it or nothing was ever stored."""
        moments = {"now": to_microseconds(now), "until": to_microseconds(until), "horizon": to_microseconds(horizon)}
        with self._database.transaction():
            self._database.execute(DELETE_EXPIRED, (to_microseconds(now - KEEP_FINISHED),))
            found = self._database.shard
            taken = found and shards.claim_shard(found, owner, **moments)
            if not taken:
                return None
            self._database.shard = taken
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
        self._finish(rows, "dispatched", now)

    def keep(self, _claim: Claim, rows: Sequence[Kept], *, retry_at: datetime) -> None:
        """Set aside what cannot be dispatched, until it is tried again."""
        self._execute_each(KEEP, [(kept.reason, to_microseconds(retry_at), kept.row.id) for kept in rows])

    def release(self, claim: Claim) -> None:
        """Release the shard."""
        self._update_if_owner(claim, **shards.changes_on_release(claim))

    def scan(self, selection: Selection) -> Iterator[Sequence[Row]]:
        """Yield all that waits and fits the selection, also what a migration holds or what is kept."""
        cutoff = to_microseconds(selection.cutoff) if selection.cutoff else 0
        one, endpoint = selection.endpoint is not None, selection.endpoint
        yield from self._pages(SELECTED, cutoff, endpoint or "", one)

    def hold_for_migration(self, row: Row, target: str = "") -> bool:
        """Hide a timeout from dispatchers; False when it is gone, or may have been taken. Rows show the target from then on."""
        with self._database.transaction():
            untaken = self._is_untaken(row.id)
            return self._database.execute(HOLD, (target, row.id, untaken)).rowcount == 1

    def release_from_migration(self, rows: Sequence[Row]) -> None:
        """Let dispatchers see these again."""
        self._execute_each(RELEASE, [(row.id,) for row in rows])

    def mark_migrated(self, rows: Sequence[Row], *, now: datetime) -> None:
        """Mark these as migrated."""
        self._finish(rows, "migrated", now)

    def _finish(self, rows: Sequence[Row], state: str, now: datetime) -> None:
        self._execute_each(FINISH, [(state, to_microseconds(now), row.id) for row in rows])

    def _execute_each(self, statement: str, values: Sequence[Sequence[object]]) -> None:
        with self._database.transaction():
            self._database.execute_each(statement, values)

    def _pages(self, where: str, *values: object) -> Iterator[Sequence[Row]]:
        last = ""
        while True:
            with self._database.transaction():
                found = self._database.execute(
                    f"SELECT {COLUMNS} FROM timeouts WHERE {where} AND id > ? ORDER BY id LIMIT {self._page}",  # noqa: S608  # our own words
                    (*values, last),
                ).fetchall()
            if not found:
                return
            last = found[-1][0]
            yield [to_row(record) for record in found]

    def _state_of(self, timeout_id: str) -> str | None:
        """Return a timeout's state in the table's words; None when there is none. Call it within a transaction."""
        found = self._database.execute("SELECT state FROM timeouts WHERE id = ?", (timeout_id,)).fetchone()
        return str(found[0]) if found else None

    def _is_untaken(self, timeout_id: str) -> bool:
        """True if no dispatcher can have taken this timeout, if it waits. Call it within a transaction."""
        found = self._database.execute("SELECT due, state, at FROM timeouts WHERE id = ?", (timeout_id,)).fetchone()
        shard = self._database.shard
        if found is None or shard is None:
            return False
        due, state, at = found
        return shards.is_untaken(shard, due, at if state == KEPT and isinstance(at, int) else due)

    def _update_if_owner(self, claim: Claim, **changes: object) -> bool:
        """Change the shard's state if the claim still has it. True if it does."""
        with self._database.transaction():
            shard = self._database.shard
            if shard is None or shard.owner != claim.owner:
                return False
            self._database.shard = shard.__replace__(**changes)
        return True
