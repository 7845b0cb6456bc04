"""Test what only the SQLite store promises: other processes may have the file open too."""

from __future__ import annotations

import gc
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from recoverable.timeouts import StoreUnavailable
from recoverable_local.timeouts import SqliteStore
from waiting.rows import NOW, take, timeout
from waiting.stores import sqlite


def test_a_file_that_somebody_reads_for_long_is_an_unavailable_store_until_that_ends(tmp_path: Path) -> None:
    made = timeout(NOW)
    with sqlite(tmp_path / "timeouts") as store, closing(sqlite3.connect(tmp_path / "timeouts")) as reader:
        store._database.execute("PRAGMA busy_timeout = 10")
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM timeouts").fetchall()
        with pytest.raises(StoreUnavailable, match="database is locked"):
            store.put(made, now=NOW)
        reader.execute("COMMIT")
        store.put(made, now=NOW)

        assert take(store) == [made]


def test_what_many_threads_store_by_stores_of_their_own_and_by_one_is_all_there(tmp_path: Path) -> None:
    made = [timeout(NOW) for _ in range(64)]
    with sqlite(tmp_path / "timeouts") as shared, ThreadPoolExecutor(8) as threads:

        def put(number: int) -> None:
            if number % 2:
                shared.put(made[number], now=NOW)
            else:
                with closing(SqliteStore(tmp_path / "timeouts")) as own:
                    own._database.execute("PRAGMA busy_timeout = 60000")
                    own.put(made[number], now=NOW)

        shared._database.execute("PRAGMA busy_timeout = 60000")
        list(threads.map(put, range(len(made))))

        assert {each.id for each in take(shared)} == {each.id for each in made}


def test_a_store_that_nobody_needs_any_more_closes_its_database() -> None:
    store = SqliteStore()
    connection = store._database
    del store
    gc.collect()

    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")
