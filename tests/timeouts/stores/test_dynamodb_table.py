"""Test the DynamoDB store where writers meet: late timeouts, transactions that conflict, and answers that are lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from botocore.exceptions import ClientError

from builders import seconds
from recoverable.timeouts import StoreUnavailable
from waiting.rows import NOW, claims, poll, scan, stored, take
from waiting.stores import Cloud, OneShard, Twice
from waiting.world import DAY, HOUR, MINUTE


def test_sixty_that_store_late_timeouts_in_one_shard_at_once_are_all_heard(cloud: Cloud) -> None:
    store = cloud.store()
    stored(store, NOW - HOUR)
    take(store)
    writers = [OneShard(store._table.name, client=cloud.client("dynamodb")) for _ in range(60)]
    start = Barrier(len(writers))

    def store_late(number: int) -> str:
        start.wait(30)
        return stored(writers[number], NOW - DAY + seconds(number)).id

    with ThreadPoolExecutor(len(writers)) as at_once:
        late = set(at_once.map(store_late, range(len(writers))))

    assert {each.id for each in take(store, NOW + MINUTE)} == late


def conflict(calls: list[int]) -> Any:
    """Return a hook of boto3's that has the first so many calls conflict with a transaction."""

    def refuse(**_: object) -> None:
        calls[0] -= 1
        if calls[0] >= 0:
            answer: Any = {"Error": {"Code": "TransactionConflictException"}}
            raise ClientError(answer, "UpdateItem")

    return refuse


def test_a_late_timeout_that_meets_a_cancellation_waits_its_turn_at_the_shard(moto: Cloud) -> None:
    store, waits = moto.store(), list[float]()
    stored(store, NOW)
    take(store)
    store._table._client, store._table._sleep = lambda: met, waits.append
    met = moto.client("dynamodb")
    met.meta.events.register("before-call.dynamodb.UpdateItem", conflict([3]))
    late = stored(store, NOW - MINUTE)

    assert [wait <= most for wait, most in zip(waits, (0.02, 0.04, 0.08), strict=True)] == [True] * 3
    assert take(store, NOW + MINUTE) == [late]


@pytest.mark.parametrize(
    ("reasons", "held"),
    [
        (["TransactionConflict", "None"], True),
        (["None", "ThrottlingError"], True),
        (["ConditionalCheckFailed", "None"], False),
    ],
    ids=str,
)
def test_a_transaction_that_is_put_off_is_asked_again(moto: Cloud, reasons: list[str], *, held: bool) -> None:
    store, calls = moto.store(), iter(range(2))
    stored(store, NOW + HOUR)
    [row] = scan(store)
    busy = moto.client("dynamodb")

    def put_off(**_: object) -> None:
        if next(calls, None) is not None:
            answer: Any = {"CancellationReasons": [{"Code": reason} for reason in reasons]}
            raise ClientError(answer, "TransactWriteItems")

    busy.meta.events.register("before-call.dynamodb.TransactWriteItems", put_off)
    store = OneShard(store._table.name, client=busy)

    assert store.hold_for_migration(row) is held


def test_a_transaction_that_fails_without_a_reason_is_not_taken_for_done(moto: Cloud) -> None:
    store = moto.store()
    stored(store, NOW + HOUR)
    [row] = scan(store)
    store._table._client().meta.events.register("before-call.dynamodb.TransactWriteItems", fail_without_reason)

    with pytest.raises(StoreUnavailable):
        store.hold_for_migration(row)


def fail_without_reason(**_: object) -> None:
    """Return a hook of boto3's that has a transaction fail for no known reason."""
    answer: Any = {"Error": {"Code": "TransactionCanceledException"}, "CancellationReasons": []}
    raise ClientError(answer, "TransactWriteItems")


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


def test_a_shard_that_was_taken_without_an_answer_is_ones_own(moto: Cloud) -> None:
    """The client makes the call again, and hears that somebody has it: itself."""
    store = moto.store()
    table: Any = Twice(store._shards._table)
    store._shards._table = table
    made = stored(store, NOW)

    assert take(store) == [made]
    assert list(claims(store, NOW, owner="two")) != []
