"""Test what every store promises of cancelled timeouts, by their id or by their correlation."""

from __future__ import annotations

import pytest

from recoverable.timeouts import Store
from waiting.rows import AHEAD, NOW, claims, stored, take, timeout
from waiting.world import HOUR


def test_a_cancelled_timeout_is_not_found(store: Store) -> None:
    made = stored(store, NOW + HOUR)

    assert store.cancel(made.id, now=NOW)
    assert take(store, NOW + HOUR) == []


def test_who_asks_again_hears_again_that_it_will_not_come(store: Store) -> None:
    made = stored(store, NOW + HOUR)

    assert [store.cancel(made.id, now=NOW) for _ in range(2)] == [True, True]


@pytest.mark.parametrize("end", ["waits", "dispatched", "cancelled", "was never stored"])
def test_what_waits_or_was_dispatched_comes(store: Store, end: str) -> None:
    made = timeout(NOW + HOUR, shards=store.shards)
    if end != "was never stored":
        store.put(made, now=NOW)
    if end == "dispatched":
        take(store, NOW + HOUR)
    if end == "cancelled":
        store.cancel(made.id, now=NOW)

    assert store.was_scheduled(made.id) == (end in ("waits", "dispatched"))


@pytest.mark.parametrize("doubtful", [True, False])
def test_what_may_have_been_sent_cannot_be_cancelled_although_the_next_clock_is_behind(
    store: Store, *, doubtful: bool
) -> None:
    made = stored(store, NOW + 2 * AHEAD)
    for claim in claims(store, NOW + AHEAD):
        claim.unconfirmed = doubtful  # SQS has not answered
        store.release(claim)
    for claim in claims(store, NOW, owner="two"):
        store.release(claim)

    assert store.cancel(made.id, now=NOW) != doubtful


@pytest.mark.parametrize("again", [True, False])
def test_what_was_cancelled_is_stored_again_only_if_asked(store: Store, *, again: bool) -> None:
    made = stored(store, NOW + HOUR, correlation="saga-1")
    store.cancel(made.id, now=NOW)
    state = store.put(made, now=NOW, again=again)

    assert state == ("waiting" if again else "cancelled")
    assert list(store.ids_by_correlation("saga-1")) == [made.id] or not again
    assert take(store, NOW + HOUR) == ([made] if again else [])


def test_what_was_dispatched_cannot_be_cancelled(store: Store) -> None:
    made = stored(store, NOW)
    take(store)

    assert not store.cancel(made.id, now=NOW)


def test_what_a_dispatcher_may_have_taken_cannot_be_cancelled(store: Store) -> None:
    near, far = (stored(store, NOW + AHEAD, token="0" * 32), stored(store, NOW + 2 * AHEAD, token="0" * 31 + "8"))
    list(claims(store, NOW))

    assert (store.cancel(near.id, now=NOW), store.cancel(far.id, now=NOW)) == (False, True)


@pytest.mark.parametrize("strange", ["", "x", "059f36b4-87a3-44ab-83d2-661975830a7d", "1-2-3", "٣" * 16 + "-0-a"])
def test_an_id_of_something_else_cancels_nothing(store: Store, strange: str) -> None:
    stored(store, NOW + HOUR)

    assert not store.cancel(strange, now=NOW)


def test_those_that_wait_are_found_by_their_correlation(store: Store) -> None:
    made = [stored(store, NOW + n * HOUR, correlation="saga-1") for n in range(3)]
    stored(store, NOW, correlation="saga-2")
    stored(store, NOW)

    assert sorted(store.ids_by_correlation("saga-1")) == [each.id for each in made]
    assert list(store.ids_by_correlation("saga-3")) == list(store.ids_by_correlation("")) == []


def test_one_that_was_cancelled_is_not_found_by_its_correlation(store: Store) -> None:
    one, other = (stored(store, NOW + n * HOUR, correlation="saga-1") for n in (1, 2))
    store.cancel(one.id, now=NOW)

    assert list(store.ids_by_correlation("saga-1")) == [other.id]


def test_those_that_were_dispatched_are_not_found_by_their_correlation(store: Store) -> None:
    stored(store, NOW, correlation="saga-1")
    take(store)

    assert list(store.ids_by_correlation("saga-1")) == []
