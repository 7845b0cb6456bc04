"""Open a store's SQLite database, run its transactions, and keep the state of its one shard."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from weakref import finalize

from recoverable.timeouts._stores.shards import Shard
from recoverable.timeouts._stores.sqlite.rows import SCHEMA, as_store_errors


class Database:
    """A database, used by one thread at a time.

    Args:
        path: the file, made if it is missing; ":memory:" for one that ends with the process.

    Raises:
        StoreUnavailable: it cannot be opened or made.
    """

    def __init__(self, path: str) -> None:
        with as_store_errors():
            self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            finalize(self, self._connection.close)  # most stores live as long as something needs them
            self._connection.executescript(SCHEMA)
        self._lock = Lock()

    def close(self) -> None:
        """Close the connection now, and not when it is garbage collected."""
        self._connection.close()

    def execute(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """Execute a statement."""
        return self._connection.execute(statement, values)

    def execute_each(self, statement: str, values: Sequence[Sequence[object]]) -> None:
        """Execute a statement for each of the values."""
        self._connection.executemany(statement, values)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Do all of what is executed within, or nothing of it.

        Raises:
            StoreUnavailable: nothing of it is done.
        """
        with self._lock, as_store_errors():
            self.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.execute("COMMIT")  # which another's read can hold up for too long
            except BaseException:
                self._connection.rollback()
                raise

    @property
    def shard(self) -> Shard | None:
        """Return the shard's state; None while nothing was ever stored. Within a transaction it does not change."""
        found = self.execute("SELECT state FROM shards").fetchone()
        return Shard(**json.loads(found[0])) if found else None

    @shard.setter
    def shard(self, shard: Shard) -> None:
        text = json.dumps({name: getattr(shard, name) for name in sorted(Shard.fields())})
        self.execute("INSERT OR REPLACE INTO shards VALUES (0, ?)", (text,))
