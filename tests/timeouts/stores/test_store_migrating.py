"""Test what every store promises of timeouts that a migration holds."""

from __future__ import annotations

import pytest

from recoverable.timeouts import Store
from recoverable.timeouts._store import Row, Selection
from waiting.rows import AHEAD, NOW, claims, poll, scan, stored, take
from waiting.world import DAY, HOUR


def test_a_migration_sees_what_fits_its_selection(store: Store) -> None:
    early, late = stored(store, NOW + HOUR), stored(store, NOW + DAY)
    other = stored(store, NOW + DAY, endpoint="bank")
    cancelled = stored(store, NOW + DAY)
    store.cancel(cancelled.id, now=NOW)
    take(store, NOW)

    assert ids(scan(store)) == {early.id, late.id, other.id}
    assert ids(scan(store, Selection(cutoff=NOW + 2 * HOUR))) == {late.id, other.id}
    assert ids(scan(store, Selection(endpoint="shop"))) == {early.id, late.id}


def ids(rows: list[Row]) -> set[str]:
    """Return the ids of the timeouts."""
    return {row.id for row in rows}


def test_what_a_migration_holds_is_hidden_from_dispatchers(store: Store) -> None:
    made = stored(store, NOW + HOUR)
    [row] = scan(store)

    assert store.hold_for_migration(row)
    assert (take(store, NOW + HOUR), ids(scan(store))) == ([], {made.id})


def test_what_a_migration_holds_cannot_be_cancelled(store: Store) -> None:
    made = stored(store, NOW + HOUR)
    [row] = scan(store)
    store.hold_for_migration(row)

    assert not store.cancel(made.id, now=NOW)


def test_what_a_migration_shows_again_is_dispatched_however_late(store: Store) -> None:
    made = stored(store, NOW + HOUR)
    [row] = scan(store)
    store.hold_for_migration(row)
    poll(store, NOW + 1.5 * HOUR)
    store.release_from_migration([row])

    assert take(store, NOW + 2 * HOUR) == [made]


def test_what_was_migrated_is_gone(store: Store) -> None:
    stored(store, NOW + HOUR)
    [row] = scan(store)
    store.hold_for_migration(row)
    store.mark_migrated([row], now=NOW)

    assert (take(store, NOW + HOUR), ids(scan(store))) == ([], set())


@pytest.mark.parametrize("again", [True, False])
def test_what_was_migrated_is_stored_again_by_a_migration_alone(store: Store, *, again: bool) -> None:
    """A writer that schedules it again got no answer at first; the message comes from the store where it is now."""
    made = stored(store, NOW + HOUR)
    [row] = scan(store)
    store.hold_for_migration(row)
    store.mark_migrated([row], now=NOW)
    state = store.put(made, now=NOW, again=again)

    assert (state, take(store, NOW + HOUR)) == (("migrated", []) if again else ("waiting", [made]))


def test_what_a_dispatcher_may_have_taken_is_not_hidden(store: Store) -> None:
    stored(store, NOW + AHEAD)
    [row] = scan(store)
    list(claims(store, NOW))

    assert not store.hold_for_migration(row)
