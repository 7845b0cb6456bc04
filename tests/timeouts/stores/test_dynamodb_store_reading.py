"""Test timeouts that are stored, kept or held while a dispatcher reads: each is dispatched."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from recoverable.timeouts import DynamoDbStore, StoreUnavailable
from recoverable.timeouts._store import Kept
from waiting.points import Point, due, every_point, keep_all
from waiting.rows import NOW, claims, keep, poll, scan, stored, take, timeout
from waiting.stores import Cloud, OneShard
from waiting.world import DAY, HOUR, MINUTE


@pytest.mark.parametrize("something_kept", [False, True])
@pytest.mark.parametrize("late_by", [due(5), due(7)], ids=["after the watermark", "before the watermark"])
def test_what_is_stored_at_any_point_of_a_poll_is_dispatched(late_by: datetime, *, something_kept: bool) -> None:
    def scenario(store: DynamoDbStore, nth: int) -> bool:
        stored(store, due(6))
        if something_kept:
            keep_all(store)
        late: list[str] = []
        point = Point(store, lambda: late.append(stored(store, late_by).id), nth)
        first = [each.id for each in take(point.store)]
        second = [each.id for each in take(store, NOW + MINUTE)]
        assert len(first + second) == 1 + len(late), f"stored before call {nth}"
        return point.struck

    assert every_point(scenario) > 7


def test_what_is_stored_while_a_poll_runs_at_any_point_of_it_is_dispatched() -> None:
    def scenario(store: DynamoDbStore, nth: int) -> bool:
        stored(store, due(6))
        taken: list[str] = []
        point = Point(store, lambda: taken.extend(each.id for each in take(store)), nth)
        late = timeout(due(1), correlation="saga-1")
        point.store.put(late, now=NOW)
        taken += [each.id for each in take(store, NOW + MINUTE)]
        assert late.id in taken, f"polled before call {nth}"
        return point.struck

    assert every_point(scenario) > 2


def test_what_one_who_lost_the_shard_keeps_at_any_point_of_a_poll_is_tried_again() -> None:
    def scenario(store: DynamoDbStore, nth: int) -> bool:
        stored(store, NOW)
        keep(store, retry_in=2 * MINUTE)
        take(store, NOW + MINUTE)
        made = stored(store, NOW + 5 * MINUTE)
        [slow] = claims(store, NOW + 4 * MINUTE, owner="slow")
        kept = [Kept(row, "gone") for page in store.due(slow) for row in page]
        point = Point(store, lambda: store.keep(slow, kept, retry_at=NOW + 10 * MINUTE), nth)
        poll(point.store, NOW + 6 * MINUTE)  # looks at what is kept, five minutes after it was last tried
        again = {each.id for minutes in (7, 12) for each in take(store, NOW + minutes * MINUTE)}
        assert made.id in again, f"kept before call {nth}"
        return point.struck

    assert every_point(scenario) > 5


def test_what_a_migration_has_hidden_before_its_store_was_told_of_it_is_dispatched_once_it_is_shown(
    moto: Cloud,
) -> None:
    store, made = moto.store(), timeout(NOW - MINUTE)

    def fail() -> None:
        raise ConnectionError

    with pytest.raises(StoreUnavailable):
        Point(store, fail, 2).store.put(made, now=NOW)
    stored(store, NOW + HOUR)
    [row] = [row for row in scan(store) if row.id == made.id]
    hidden = store.hold_for_migration(row)
    state = store.put(made, now=NOW)
    store.release_from_migration([row])

    assert (hidden, state, take(store)) == (True, "held", [made])


def test_what_is_stored_in_spite_of_errors_is_dispatched() -> None:
    def scenario(store: DynamoDbStore, nth: int) -> bool:
        stored(store, due(6))
        take(store)

        def fail() -> None:
            raise ConnectionError

        point = Point(store, fail, nth)
        late = timeout(due(6) - timedelta(days=1))
        try:
            point.store.put(late, now=NOW)
        except StoreUnavailable:
            point.store.put(late, now=NOW)  # as who has it stored does, for it was not confirmed
        assert late.id in {each.id for each in take(store, NOW + MINUTE)}, f"error before call {nth}"
        return point.struck

    assert every_point(scenario) > 2


def test_what_points_to_a_cancelled_timeout_stays_if_it_was_stored_again_meanwhile(moto: Cloud) -> None:
    """Its minute is over, so that nothing else leads to it; it is cancelled and stored again while a dispatcher looks."""
    store = moto.store()
    stored(store, NOW + 30 * DAY, token="0" * 32)
    poll(store, NOW + 3 * HOUR)
    poll(store, NOW)
    made = stored(store, NOW + HOUR, token="0" * 32)
    assert store.cancel(made.id, now=NOW)
    client, looks = moto.client("dynamodb"), iter([True])
    slow = OneShard(store._table.name, client=client)

    def store_again(**request: Any) -> None:
        if b"SET expires" in request["params"]["body"] and next(looks, False):
            store.put(made, now=NOW, again=True)

    client.meta.events.register("before-call.dynamodb.UpdateItem", store_again)
    found = take(slow, NOW + HOUR) + take(store, NOW + HOUR + MINUTE)

    assert (found, next(looks, None)) == ([made], None)
