"""What every store promises."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from builders import seconds
from recoverable.timeouts import DynamoDBStore, Store, Timeout
from recoverable.timeouts.ids import new_id
from recoverable.timeouts.store import Kept, Selection
from waiting.rows import AHEAD, LEASE, NOW, claims, keep, poll, stored, take, timeout
from waiting.stores import PAGE, Cloud

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
MINUTE = seconds(60)
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "NServiceBus.AmazonSQS.Headers": {"DataType": "String", "StringValue": '{"a": "ü"}'},
    "raw": {"DataType": "Binary.png", "BinaryValue": b"\x00\xff"},
    "count": {"DataType": "Number", "StringValue": "7"},
}


def test_an_empty_store_has_nothing_due(store: Store) -> None:
    assert poll(store) == []


def test_a_timeout_comes_back_as_it_was_stored(store: Store) -> None:
    whole = Timeout(
        new_id(NOW, "ab" * 16, store.shards),
        "https://sqs.eu-west-1.amazonaws.com/123456789012/orders",
        "body – with ümläuts and 🚚",
        attributes=ATTRIBUTES,
        group_id="g",
        endpoint="shop",
        correlation="saga-1",
    )
    store.put(whole, now=NOW)

    assert take(store) == [whole]


@pytest.mark.parametrize(
    ("due_in", "found"),
    [
        pytest.param(-HOUR, True, id="an hour ago"),
        pytest.param(timedelta(0), True, id="now"),
        pytest.param(AHEAD, True, id="at the horizon"),
        pytest.param(AHEAD + timedelta(microseconds=1), False, id="a microsecond after the horizon"),
        pytest.param(30 * DAY, False, id="in a month"),
    ],
)
def test_what_is_due_until_the_horizon_is_found(store: Store, due_in: timedelta, *, found: bool) -> None:
    made = stored(store, NOW + due_in)

    assert take(store) == ([made] if found else [])


def test_what_was_due_years_ago_is_found_without_a_look_at_each_minute_since(store: Store) -> None:
    now, ago = (stored(store, NOW - n * DAY, token="0" * 32) for n in (0, 36_500))

    assert take(store) == [ago, now]


def test_it_is_found_when_its_time_comes(store: Store) -> None:
    made = stored(store, NOW + HOUR)

    assert [take(store, NOW + seconds(600 * n)) for n in range(7)] == [[], [], [], [], [], [], [made]]


def test_what_is_marked_is_not_found_again(store: Store) -> None:
    stored(store, NOW)
    take(store)

    assert take(store) == []


def test_what_is_not_marked_is_found_again(store: Store) -> None:
    made = stored(store, NOW)
    poll(store)

    assert take(store, NOW + HOUR) == [made]


def test_storing_twice_is_storing_once(store: Store) -> None:
    made = stored(store, NOW)
    store.put(made, now=NOW)

    assert take(store) == [made]


def test_what_was_dispatched_is_not_stored_again(store: Store) -> None:
    made = stored(store, NOW)
    take(store)
    store.put(made, now=NOW)

    assert take(store) == []


def test_more_than_a_page_comes_in_the_order_of_due_times(store: Store) -> None:
    made = [stored(store, NOW - seconds(n), token=f"{8 * n:032x}") for n in range(2 * PAGE + 4)]
    [first, *_] = [page for claim in claims(store, NOW) for page in store.due(claim)]

    assert [row.id for row in first] == sorted(row.id for row in first)
    assert take(store, NOW + HOUR) == made[::-1]


def test_an_outage_skips_nothing(store: Store) -> None:
    made = [stored(store, NOW + seconds(500 * n), token=f"{8 * n:032x}") for n in range(20)]
    poll(store)

    assert take(store, NOW + 3 * HOUR) == made


def test_what_comes_late_is_found_although_the_watermark_is_past_it(store: Store) -> None:
    stored(store, NOW - HOUR, token="0" * 32)
    take(store)
    poll(store, NOW + HOUR)
    late = stored(store, NOW - DAY, token="0" * 32)

    assert take(store, NOW + HOUR) == [late]


def test_what_comes_while_the_shard_is_read_is_not_passed(store: Store) -> None:
    stored(store, NOW - HOUR, token="0" * 32)
    take(store)
    [claim] = claims(store, NOW)
    assert list(store.due(claim)) == []
    late = stored(store, NOW - 2 * HOUR, token="0" * 32)
    store.release(claim)

    assert take(store, NOW + seconds(60)) == [late]


def test_a_shard_is_one_dispatchers(store: Store) -> None:
    stored(store, NOW)
    [mine] = claims(store, NOW)

    assert list(claims(store, NOW + seconds(59), owner="two")) == []
    assert [each.shard for each in claims(store, NOW + seconds(61), owner="two")] == [mine.shard]


def test_a_lease_that_was_renewed_lasts_longer(store: Store) -> None:
    stored(store, NOW)
    [mine] = claims(store, NOW)

    assert store.renew(mine, until=NOW + 2 * LEASE)
    assert list(claims(store, NOW + seconds(61), owner="two")) == []


def test_a_lease_that_another_has_is_not_renewed(store: Store) -> None:
    stored(store, NOW)
    [mine] = claims(store, NOW)
    list(claims(store, NOW + HOUR, owner="two"))

    assert not store.renew(mine, until=NOW + 2 * HOUR)


def test_giving_back_what_another_has_takes_nothing_from_it(store: Store) -> None:
    stored(store, NOW)
    [mine] = claims(store, NOW)
    list(claims(store, NOW + HOUR, owner="two"))
    store.release(mine)

    assert list(claims(store, NOW + HOUR, owner="three")) == []


def test_a_shard_given_back_is_free_at_once(store: Store) -> None:
    stored(store, NOW)
    [mine] = claims(store, NOW)
    store.release(mine)

    assert len(list(claims(store, NOW, owner="two"))) == 1


def test_a_cancelled_timeout_is_not_found(store: Store) -> None:
    made = stored(store, NOW + HOUR)

    assert store.cancel(made.id, now=NOW)
    assert take(store, NOW + HOUR) == []


def test_cancelling_twice_cancels_once(store: Store) -> None:
    made = stored(store, NOW + HOUR)

    assert [store.cancel(made.id, now=NOW) for _ in range(2)] == [True, False]


@pytest.mark.parametrize("again", [True, False])
def test_what_was_cancelled_is_stored_again_only_if_asked(store: Store, *, again: bool) -> None:
    made = stored(store, NOW + HOUR, correlation="saga-1")
    store.cancel(made.id, now=NOW)
    state = store.put(made, now=NOW, again=again)

    assert state == ("waiting" if again else "cancelled")
    assert list(store.waiting_for("saga-1")) == [made.id] or not again
    assert take(store, NOW + HOUR) == ([made] if again else [])


def test_what_was_dispatched_cannot_be_cancelled(store: Store) -> None:
    made = stored(store, NOW)
    take(store)

    assert not store.cancel(made.id, now=NOW)


def test_what_a_dispatcher_may_have_taken_cannot_be_cancelled(store: Store) -> None:
    near, far = (
        stored(store, NOW + AHEAD, token="0" * 32),
        stored(store, NOW + 2 * AHEAD, token="0" * 31 + "8"),
    )
    list(claims(store, NOW))

    assert (store.cancel(near.id, now=NOW), store.cancel(far.id, now=NOW)) == (False, True)


@pytest.mark.parametrize(
    "strange", ["", "x", "059f36b4-87a3-44ab-83d2-661975830a7d", "1-2-3", "٣" * 16 + "-0-a"]
)
def test_an_id_of_something_else_cancels_nothing(store: Store, strange: str) -> None:
    stored(store, NOW + HOUR)

    assert not store.cancel(strange, now=NOW)


def test_those_that_wait_are_found_by_their_correlation(store: Store) -> None:
    made = [stored(store, NOW + n * HOUR, correlation="saga-1") for n in range(3)]
    stored(store, NOW, correlation="saga-2")
    stored(store, NOW)

    assert sorted(store.waiting_for("saga-1")) == [each.id for each in made]
    assert list(store.waiting_for("saga-3")) == list(store.waiting_for("")) == []


def test_one_that_was_cancelled_is_not_found_by_its_correlation(store: Store) -> None:
    one, other = (stored(store, NOW + n * HOUR, correlation="saga-1") for n in (1, 2))
    store.cancel(one.id, now=NOW)

    assert list(store.waiting_for("saga-1")) == [other.id]


def test_those_that_were_dispatched_are_not_found_by_their_correlation(store: Store) -> None:
    stored(store, NOW, correlation="saga-1")
    take(store)

    assert list(store.waiting_for("saga-1")) == []


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


def test_what_is_due_before_the_first_that_was_stored_waits_where_it_is_looked_for(store: Store) -> None:
    stored(store, NOW + DAY, token="0" * 32)
    stored(store, NOW + HOUR, token="0" * 32)

    assert [row.kept for row in poll(store, NOW + HOUR)] == [False]


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


def test_a_lease_that_a_clock_far_ahead_has_taken_holds_up_nobody(store: Store) -> None:
    made = stored(store, NOW)
    list(claims(store, NOW + DAY, owner="fast"))

    assert take(store, NOW) == [made]


def test_what_is_kept_lets_the_watermark_pass(store: Store) -> None:
    stored(store, NOW, token="0" * 32)
    keep(store)
    poll(store, NOW + seconds(300))
    late = stored(store, NOW + seconds(1), token="0" * 32)

    assert take(store, NOW + seconds(400)) == [late]


def test_a_migration_sees_what_fits_its_selection(store: Store) -> None:
    early, late = stored(store, NOW + HOUR), stored(store, NOW + DAY)
    other = stored(store, NOW + DAY, endpoint="bank")
    cancelled = stored(store, NOW + DAY)
    store.cancel(cancelled.id, now=NOW)
    take(store, NOW)

    assert scanned(store, Selection()) == {early.id, late.id, other.id}
    assert scanned(store, Selection(cutoff=NOW + 2 * HOUR)) == {late.id, other.id}
    assert scanned(store, Selection(endpoint="shop")) == {early.id, late.id}


def scanned(store: Store, selection: Selection) -> set[str]:
    """The ids of what a migration sees."""
    return {row.id for page in store.scan(selection) for row in page}


def test_what_a_migration_holds_is_hidden_from_dispatchers(store: Store) -> None:
    made = stored(store, NOW + HOUR)
    [row] = [row for page in store.scan(Selection()) for row in page]

    assert store.hide(row)
    assert (take(store, NOW + HOUR), scanned(store, Selection())) == ([], {made.id})


def test_what_a_migration_holds_cannot_be_cancelled(store: Store) -> None:
    made = stored(store, NOW + HOUR)
    [row] = [row for page in store.scan(Selection()) for row in page]
    store.hide(row)

    assert not store.cancel(made.id, now=NOW)


def test_what_a_migration_shows_again_is_dispatched_however_late(store: Store) -> None:
    made = stored(store, NOW + HOUR)
    [row] = [row for page in store.scan(Selection()) for row in page]
    store.hide(row)
    poll(store, NOW + 1.5 * HOUR)
    store.show([row])

    assert take(store, NOW + 2 * HOUR) == [made]


def test_what_was_migrated_is_gone(store: Store) -> None:
    stored(store, NOW + HOUR)
    [row] = [row for page in store.scan(Selection()) for row in page]
    store.hide(row)
    store.mark_migrated([row], now=NOW)

    assert (take(store, NOW + HOUR), scanned(store, Selection())) == ([], set())


def test_what_a_dispatcher_may_have_taken_is_not_hidden(store: Store) -> None:
    stored(store, NOW + AHEAD)
    [row] = [row for page in store.scan(Selection()) for row in page]
    list(claims(store, NOW))

    assert not store.hide(row)


def test_timeouts_spread_over_all_shards(cloud: Cloud) -> None:
    store = cloud.store(DynamoDBStore)
    made = [stored(store, NOW + seconds(n)) for n in range(16)]

    assert {each.id.split("-")[1] for each in made} == set("01234567")
    assert take(store) == made


def test_shards_are_as_many_as_its_ids_say(store: Store) -> None:
    numbers = {int(timeout(NOW, shards=store.shards).id.split("-")[1]) for _ in range(64)}

    assert numbers == set(range(store.shards))
