"""Test what every store promises while dispatchers lose their shard, or have a wrong clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import pytest

from recoverable.timeouts import Store
from recoverable.timeouts._shards import Claim
from recoverable.timeouts._store import Kept, Row
from waiting.rows import NOW, claims, keep, poll, scan, stored, take
from waiting.stores import Cloud, OneShard
from waiting.world import DAY, HOUR, MINUTE


def read_by_a_slow_one(store: Store, now: datetime) -> tuple[Claim, Sequence[Row]]:
    """Return the claim and rows of a dispatcher that has read what is due, and then does nothing for a long time."""
    [claim] = claims(store, now, owner="slow")
    return claim, [row for page in store.due(claim) for row in page]


def test_what_another_has_dispatched_is_not_kept_by_who_lost_the_shard(store: Store) -> None:
    stored(store, NOW)
    slow, rows = read_by_a_slow_one(store, NOW)
    take(store, NOW + 2 * MINUTE)
    store.keep(slow, [Kept(row, "gone") for row in rows], retry_at=NOW + HOUR)

    assert take(store, NOW + 2 * HOUR) == []


def test_what_another_has_kept_is_not_sent_again_if_who_lost_the_shard_has_sent_it(store: Store) -> None:
    stored(store, NOW)
    _, rows = read_by_a_slow_one(store, NOW)
    keep(store, NOW + 2 * MINUTE)
    store.mark_dispatched(rows, now=NOW + 3 * MINUTE)

    assert take(store, NOW + 2 * HOUR) == []


def test_what_was_kept_since_cannot_be_cancelled_while_who_lost_the_shard_may_send_it(store: Store) -> None:
    made = stored(store, NOW)
    read_by_a_slow_one(store, NOW)
    keep(store, NOW + 2 * MINUTE)

    assert not store.cancel(made.id, now=NOW + 2 * MINUTE)
    assert take(store, NOW + 2 * HOUR) == [made]


def test_who_takes_a_shard_by_what_it_was_forgets_nobody_who_has_lost_it_since(moto: Cloud) -> None:
    store = moto.store()
    made = stored(store, NOW)

    def lose() -> None:
        read_by_a_slow_one(store, NOW)
        keep(store, NOW + 2 * MINUTE)

    client = moto.client("dynamodb")
    client.meta.events.register_first("before-call.dynamodb.UpdateItem", once(lose))
    late = list(claims(OneShard(store._table.name, client=client), NOW, owner="late"))

    assert late == []
    assert not store.cancel(made.id, now=NOW + 2 * MINUTE)


def once(strike: Callable[[], object]) -> Callable[..., None]:
    """Return a hook of boto3's that acts at the first call."""
    left = [strike]

    def called(**_: object) -> None:
        if left:
            left.pop()()

    return called


def test_what_was_kept_again_cannot_be_cancelled_while_who_lost_the_shard_may_send_it(store: Store) -> None:
    made = stored(store, NOW)
    keep(store)
    read_by_a_slow_one(store, NOW + HOUR)
    keep(store, NOW + 1.5 * HOUR)

    assert not store.cancel(made.id, now=NOW + 1.5 * HOUR)


def test_what_was_cancelled_after_a_run_must_be_over_is_not_kept_again_by_it(store: Store) -> None:
    made = stored(store, NOW)
    keep(store)
    slow, rows = read_by_a_slow_one(store, NOW + HOUR)
    keep(store, NOW + 1.5 * HOUR)
    poll(store, NOW + 1.5 * HOUR + 15 * MINUTE)

    assert store.cancel(made.id, now=NOW + 2 * HOUR)
    store.keep(slow, [Kept(row, "gone") for row in rows], retry_at=NOW + 2 * HOUR)
    assert take(store, NOW + 3 * HOUR) == []


def test_who_lost_the_shard_holds_up_no_cancellation_of_what_nobody_has_announced(store: Store) -> None:
    stored(store, NOW)
    made = stored(store, NOW + HOUR)
    read_by_a_slow_one(store, NOW)
    take(store, NOW + 2 * MINUTE)

    assert store.cancel(made.id, now=NOW + 2 * MINUTE)


@pytest.mark.parametrize("what", ["cancel", "hold_for_migration"])
def test_a_clock_far_ahead_leaves_no_horizon_behind(store: Store, what: str) -> None:
    stored(store, NOW + 30 * DAY)
    poll(store, NOW + 3 * HOUR)
    poll(store, NOW)
    made = stored(store, NOW + HOUR)

    assert is_done(store, made.id, what)
    assert take(store, NOW + HOUR) == []


@pytest.mark.parametrize("what", ["cancel", "hold_for_migration"])
def test_a_clock_far_ahead_that_died_leaves_its_horizon_for_as_long_as_a_run_can_last(store: Store, what: str) -> None:
    stored(store, NOW + 30 * DAY)
    list(claims(store, NOW + 3 * HOUR, owner="fast"))
    made = stored(store, NOW + HOUR)
    done = []
    for minutes in (0, 14, 15):
        poll(store, NOW + minutes * MINUTE)
        done.append(is_done(store, made.id, what))

    assert done == [False, False, True]


def is_done(store: Store, timeout_id: str, what: str) -> bool:
    """Return True if a timeout can be cancelled, or held for a migration."""
    if what == "cancel":
        return store.cancel(timeout_id, now=NOW)
    [row] = [row for row in scan(store) if row.id == timeout_id]
    return store.hold_for_migration(row)


def test_what_is_stored_where_a_clock_far_ahead_has_been_is_dispatched_when_it_is_due(store: Store) -> None:
    stored(store, NOW + 30 * DAY, token="0" * 32)
    poll(store, NOW + 3 * HOUR)
    made = stored(store, NOW + HOUR, token="0" * 32)

    assert [take(store, NOW + minutes * MINUTE) for minutes in (0, 57, 59, 60)] == [[], [], [made], []]


def test_what_is_stored_again_after_it_was_kept_comes_once(store: Store) -> None:
    made = stored(store, NOW)
    keep(store)

    assert store.put(made, now=NOW, again=True) == "waiting"
    assert take(store, NOW + HOUR) == [made]
    assert store.put(made, now=NOW, again=True) == "dispatched"
    assert take(store, NOW + 2 * HOUR) == []


def test_what_was_kept_and_cancelled_and_is_stored_again_comes_once(store: Store) -> None:
    made = stored(store, NOW)
    keep(store)
    store.cancel(made.id, now=NOW)
    store.put(made, now=NOW, again=True)

    assert [take(store, NOW + minutes * MINUTE) for minutes in (1, 60, 120)] == [[made], [], []]


def test_what_was_kept_and_cancelled_and_stored_again_is_kept_again(store: Store) -> None:
    made = stored(store, NOW)
    keep(store)
    store.cancel(made.id, now=NOW)
    store.put(made, now=NOW, again=True)
    keep(store, NOW + MINUTE)

    assert [take(store, NOW + minutes * MINUTE) for minutes in (2, 61, 121)] == [[], [made], []]
