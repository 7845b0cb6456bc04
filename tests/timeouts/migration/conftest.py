"""Provide stores to migrate from and to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recoverable.timeouts import Store
from recoverable_local.timeouts import SqliteStore
from waiting.rows import NOW, stored
from waiting.stores import sqlite
from waiting.world import HOUR


@pytest.fixture
def other() -> Iterator[Store]:
    """Yield the store that timeouts are moved to."""
    with sqlite() as made:
        yield made


@pytest.fixture
def source(tmp_path: Path) -> str:
    """Return the address of a store with three timeouts, one of another endpoint."""
    path = tmp_path / "timeouts.sqlite"
    store = SqliteStore(path)
    for n, endpoint in enumerate(("shop", "shop", "bank")):
        stored(store, NOW + n * HOUR, endpoint=endpoint)
    store.close()
    return f"sqlite:{path}"
