"""Test what every store promises of timeouts that are kept because they could not be dispatched."""

from __future__ import annotations

from builders import seconds
from recoverable.timeouts import Store
from recoverable.timeouts._store import Kept
from waiting.rows import AHEAD, NOW, claims, keep, poll, stored, take
from waiting.world import HOUR, MINUTE


def test_what_is_kept_is_found_again_when_its_time_comes(store: Store) -> None:
    made = stored(store, NOW)
    keep(store)

    assert (poll(store, NOW + HOUR - 2 * AHEAD), take(store, NOW + HOUR)) == ([], [made])
    assert take(store, NOW + 2 * HOUR) == []


def test_what_is_kept_twice_is_found_again_later(store: Store) -> None:
    made = stored(store, NOW)
    keep(store)
    keep(store, NOW + HOUR)

    assert (take(store, NOW + 1.5 * HOUR), take(store, NOW + 2 * HOUR)) == ([], [made])


def test_what_was_to_be_tried_again_and_was_not_is_found_later(store: Store) -> None:
    made = stored(store, NOW)
    keep(store)
    poll(store, NOW + HOUR)

    assert take(store, NOW + 2 * HOUR) == [made]


def test_what_is_kept_can_be_cancelled(store: Store) -> None:
    made = stored(store, NOW)
    keep(store)

    assert store.cancel(made.id, now=NOW)
    assert take(store, NOW + HOUR) == []


def test_those_kept_are_found_each_at_its_own_time(store: Store) -> None:
    made = [stored(store, NOW, token=f"{8 * n:032x}") for n in range(2)]
    [claim] = claims(store, NOW)
    found = sorted((row for page in store.due(claim) for row in page), key=lambda row: row.id)
    for n, row in enumerate(found):
        store.keep(claim, [Kept(row, "gone")], retry_at=NOW + (5 * n + 4) * MINUTE)
    store.release(claim)

    assert [take(store, NOW + n * MINUTE) for n in (4, 9)] == [[made[0]], [made[1]]]


def test_what_is_kept_cannot_be_cancelled_while_it_is_tried_again(store: Store) -> None:
    made = stored(store, NOW)
    keep(store)
    list(claims(store, NOW + HOUR))

    assert not store.cancel(made.id, now=NOW + HOUR)
    assert take(store, NOW + 2 * HOUR) == [made]


def test_who_lost_the_shard_does_not_put_off_what_the_next_one_keeps(store: Store) -> None:
    made = [stored(store, NOW), stored(store, NOW + HOUR + 3 * MINUTE)]
    keep(store)
    [slow] = claims(store, NOW + HOUR, owner="slow")
    reading = iter(store.due(slow))
    next(reading)
    keep(store, NOW + HOUR + 2 * MINUTE, retry_in=8 * MINUTE)
    list(reading)

    assert take(store, NOW + HOUR + 9 * MINUTE) == made


def test_what_is_kept_lets_the_watermark_pass(store: Store) -> None:
    stored(store, NOW, token="0" * 32)
    keep(store)
    poll(store, NOW + seconds(300))
    late = stored(store, NOW + seconds(1), token="0" * 32)

    assert take(store, NOW + seconds(400)) == [late]
