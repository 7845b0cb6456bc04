"""Migrate stores, and count what is in them."""

from __future__ import annotations

from typing import Any

from recoverable.timeouts import Store
from recoverable.timeouts._store import Selection
from recoverable_local.timeouts import SqliteStore
from recoverable_operate._migration.moving import Summary, migrate
from waiting.rows import ALL, NOW, scan


def moved(source: Store, target: Any, selection: Selection = ALL, *, dry_run: bool = False) -> Summary:
    """Migrate, and return the summary."""
    return migrate(source, target, selection, lambda: NOW, dry_run=dry_run, on_progress=str, on_skipped=str)


def waiting(address: str) -> int:
    """Return how many timeouts wait in the store at that address, held or not."""
    store = SqliteStore(address.removeprefix("sqlite:"))
    found = len(scan(store))
    store.close()
    return found


def held(address: str) -> int:
    """Return how many timeouts a migration holds in the store at that address."""
    store = SqliteStore(address.removeprefix("sqlite:"))
    found = sum(row.held for row in scan(store))
    store.close()
    return found
