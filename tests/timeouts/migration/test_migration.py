"""Test moving what waits to Service Bus, to SQS or to another store; an interruption anywhere loses nothing."""

from __future__ import annotations

from builders import seconds
from recoverable.timeouts import Store
from recoverable.timeouts._store import Kept, Selection
from recoverable_local.timeouts import SqliteStore
from recoverable_operate._migration.moving import SKIPPED_KEPT, StoreTarget, abort, preview
from waiting.moving import moved
from waiting.rows import ALL, NOW, claims, poll, stored, take
from waiting.stores import PAGE, Cloud
from waiting.world import HOUR, MINUTE


def test_a_preview_says_what_waits_and_changes_nothing(local_store: Store) -> None:
    stored(local_store, NOW + HOUR)
    last = stored(local_store, NOW + 2 * HOUR, endpoint="bank")
    summary = preview(local_store, ALL)

    assert summary.waiting == {("shop", "orders"): 1, ("bank", "orders"): 1}
    assert (summary.earliest, summary.latest) == (NOW + HOUR, last.due_at)
    assert len(take(local_store, NOW + 2 * HOUR)) == 2


def test_what_is_moved_to_another_store_is_there_and_no_more_here(store: Store, other: Store) -> None:
    made = [stored(store, NOW + HOUR + seconds(n)) for n in range(2 * PAGE)]
    assert moved(store, StoreTarget(other, "other")).changed == len(made)

    assert take(store, NOW + 2 * HOUR) == []
    assert take(other, NOW + 2 * HOUR) == made


def test_what_is_moved_back_is_where_it_was(store: Store, other: Store) -> None:
    made = stored(store, NOW + HOUR)
    moved(store, StoreTarget(other, "other"))
    assert moved(other, StoreTarget(store, "first")).changed == 1

    assert (take(other, NOW + HOUR), take(store, NOW + HOUR)) == ([], [made])


def test_what_is_moved_onto_itself_is_refused_and_comes_after_an_abort(store: Store) -> None:
    made = stored(store, NOW + HOUR)
    summary = moved(store, StoreTarget(store, "itself"))
    abort(store, ALL, dry_run=False)

    assert dict(summary.skipped) == {
        "itself may have it (it is held there), so it stays held until migrate or abort": 1
    }
    assert take(store, NOW + HOUR) == [made]


def test_what_was_cancelled_there_is_not_taken(store: Store, other: Store) -> None:
    """A migration that ended between sending and marking goes on, and finds what became of it in the meantime."""
    made = stored(other, NOW + HOUR)
    store.put(made, now=NOW)
    store.cancel(made.id, now=NOW)
    summary = moved(other, StoreTarget(store, "there"))

    assert (summary.changed, summary.skipped.total()) == (0, 1)
    assert take(store, NOW + HOUR) == []


def test_what_is_kept_is_counted_and_left(store: Store, other: Store) -> None:
    made = stored(store, NOW)
    for claim in claims(store, NOW):
        store.keep(claim, [Kept(row, "gone") for page in store.due(claim) for row in page], retry_at=NOW + HOUR)
        store.release(claim)

    assert (
        dict(preview(store, ALL).skipped)
        == dict(moved(store, StoreTarget(other, "other")).skipped)
        == {SKIPPED_KEPT: 1}
    )
    assert (take(store, NOW + HOUR), take(other, NOW + HOUR)) == ([made], [])


def test_a_dry_run_changes_nothing(local_store: Store, other: Store) -> None:
    made = stored(local_store, NOW + HOUR)

    assert moved(local_store, StoreTarget(other, "other"), dry_run=True).changed == 1
    assert (take(local_store, NOW + HOUR), take(other, NOW + HOUR)) == ([made], [])


def test_only_what_is_selected_is_moved(local_store: Store, other: Store) -> None:
    early, late = stored(local_store, NOW + HOUR), stored(local_store, NOW + 2 * HOUR)
    bank = stored(local_store, NOW + 2 * HOUR, endpoint="bank")
    moved(local_store, StoreTarget(other, "other"), Selection(NOW + 1.5 * HOUR, "shop"))

    assert take(other, NOW + 3 * HOUR) == [late]
    assert take(local_store, NOW + 3 * HOUR) == sorted([early, bank], key=lambda each: each.id)


def test_what_a_dispatcher_may_have_taken_is_left_to_it(local_store: Store, other: Store) -> None:
    made = stored(local_store, NOW + MINUTE)
    poll(local_store)
    summary = moved(local_store, StoreTarget(other, "other"))

    assert summary.skipped == {"a dispatcher may have taken it, or it is cancelled": 1}
    assert take(local_store) == [made]


def test_a_row_that_cannot_be_read_is_left(other: Store) -> None:
    source = SqliteStore()
    stored(source, NOW + HOUR)
    source._database.execute("UPDATE timeouts SET version = 2")
    summary = moved(source, StoreTarget(other, "other"))
    source.close()

    assert list(summary.skipped) == [
        "cannot be read: it is of version 2, and this package reads 1; deploy the newer one"
    ]


def test_a_large_message_moves_to_a_table_with_the_same_bucket(moto: Cloud) -> None:
    bucket = moto.bucket()
    source, target = moto.store(bucket=bucket), moto.store(bucket=bucket)
    made = stored(source, NOW + HOUR, body="x" * 500_000)
    moved(source, StoreTarget(target, "other"))

    assert take(target, NOW + HOUR) == [made]


def test_a_table_moves_to_a_table(moto: Cloud) -> None:
    source, target = moto.store(), moto.store()
    made = [stored(source, NOW + HOUR + seconds(n)) for n in range(PAGE)]
    moved(source, StoreTarget(target, "other"))

    assert (take(source, NOW + 1.5 * HOUR), take(target, NOW + 1.5 * HOUR)) == ([], made)
