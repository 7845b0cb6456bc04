"""Define the tables and statements of the SQLite store, and turn records into rows and SQLite's errors into the port's."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from recoverable.timeouts._stores.rows import HELD, WAITING, Row, StoreUnavailable
from recoverable.timeouts._timeout import Unreadable, load_timeout

SCHEMA = """
CREATE TABLE IF NOT EXISTS timeouts (
    id TEXT PRIMARY KEY, due INTEGER NOT NULL, state TEXT NOT NULL, version INTEGER NOT NULL, destination TEXT NOT NULL,
    endpoint TEXT NOT NULL, correlation TEXT NOT NULL, message TEXT NOT NULL, reason TEXT NOT NULL DEFAULT '', at INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS by_state ON timeouts (state, id);
CREATE INDEX IF NOT EXISTS by_correlation ON timeouts (correlation) WHERE correlation <> '';
CREATE TABLE IF NOT EXISTS shards (number INTEGER PRIMARY KEY, state TEXT NOT NULL);
"""

DELETE_REPLACEABLE = "DELETE FROM timeouts WHERE id = ? AND state = ?"
DELETE_EXPIRED = "DELETE FROM timeouts WHERE state IN ('dispatched', 'cancelled', 'migrated') AND at < ?"
INSERT = """
INSERT OR IGNORE INTO timeouts (id, due, state, version, destination, endpoint, correlation, message) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
CANCEL = "UPDATE timeouts SET state = 'cancelled', message = '', at = ? WHERE id = ? AND state IN ('waiting', 'kept')"
KEEP = "UPDATE timeouts SET state = 'kept', reason = ?, at = ? WHERE id = ? AND state IN ('waiting', 'kept')"
HOLD = "UPDATE timeouts SET state = 'hidden', reason = ? WHERE id = ? AND (state = 'hidden' OR state = 'waiting' AND ?)"
RELEASE = "UPDATE timeouts SET state = 'waiting', reason = '' WHERE id = ? AND state = 'hidden'"
FINISH = "UPDATE timeouts SET state = ?, message = '', at = ? WHERE id = ?"
WITH_CORRELATION = (
    "SELECT id FROM timeouts WHERE correlation = ? AND correlation <> '' AND state IN ('waiting', 'kept')"
)

DUE = "state = 'waiting' AND due <= ?"
RETRY_DUE = "state = 'kept' AND (at < ? OR typeof(at) <> 'integer')"
SELECTED = "state IN ('waiting', 'hidden', 'kept') AND due >= ? AND (endpoint = ? OR NOT ?)"

COLUMNS = "id, state, version, destination, endpoint, correlation, message, reason"
HIDDEN, KEPT = "hidden", "kept"
STATES = {HIDDEN: HELD, KEPT: WAITING}
"""The port's names for states that the table names otherwise."""


@contextmanager
def as_store_errors() -> Iterator[None]:
    """Raise SQLite's errors as the port's."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreUnavailable(f"SQLite: {error}") from error


def to_row(record: tuple[str, str, int, str, str, str, str, str]) -> Row:
    """Return a record of the table as a row."""
    timeout_id, state, version, to, endpoint, correlation, message, reason = record
    held = state == HIDDEN
    made = partial(Row, timeout_id, kept=state == KEPT, held=held, held_for=reason if held else "")
    fields = {"version": version, "to": to, "endpoint": endpoint, "correlation": correlation}
    try:
        return made(load_timeout(timeout_id, fields, message))
    except Unreadable as error:
        return made(None, problem=str(error))
