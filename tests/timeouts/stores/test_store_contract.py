"""Test what every store promises of stored timeouts: each is found when it is due, and once."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Any

import pytest

from builders import seconds
from recoverable.timeouts import DynamoDbStore, Store, Timeout
from recoverable.timeouts._timeout import new_id
from recoverable_local.timeouts import SqliteStore
from waiting.rows import AHEAD, NOW, claims, poll, stored, take
from waiting.stores import PAGE
from waiting.world import DAY, HOUR

ATTRIBUTES: dict[str, dict[str, Any]] = {
    "NServiceBus.AmazonSQS.Headers": {"DataType": "String", "StringValue": '{"a": "ü"}'},
    "raw": {"DataType": "Binary.png", "BinaryValue": b"\x00\xff"},
    "count": {"DataType": "Number", "StringValue": "7"},
}


class Saga(StrEnum):
    ORDER = "saga-1"


def test_a_text_may_be_of_an_enumeration(store: Store) -> None:
    store.put(Timeout(new_id(NOW, "ab" * 16, store.shards), "orders", "body", correlation=Saga.ORDER), now=NOW)

    assert len(store.ids_by_correlation("saga-1")) == 1


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


@pytest.mark.parametrize("kind", [DynamoDbStore, SqliteStore])
@pytest.mark.parametrize("page", [0, -1, True, 1.5, "10"], ids=str)
def test_a_page_of_no_rows_is_refused(kind: Any, page: object) -> None:
    with pytest.raises((TypeError, ValueError), match=r"Store\(page\) is .*; write a whole number from 1"):
        kind("timeouts", page=page)


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


def test_what_is_due_before_the_first_that_was_stored_waits_where_it_is_looked_for(store: Store) -> None:
    stored(store, NOW + DAY, token="0" * 32)
    stored(store, NOW + HOUR, token="0" * 32)

    assert [row.kept for row in poll(store, NOW + HOUR)] == [False]
