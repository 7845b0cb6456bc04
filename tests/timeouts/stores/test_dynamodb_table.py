"""Test how the DynamoDB store calls its table: writes and transactions that conflict, and those that fail."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

from recoverable.timeouts import StoreUnavailable
from waiting.rows import NOW, scan, stored, take
from waiting.stores import Cloud, OneShard
from waiting.world import HOUR, MINUTE


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


@pytest.mark.parametrize("how", ["without a reason", "without an answer"])
def test_a_transaction_that_fails_is_not_taken_for_done(moto: Cloud, how: str) -> None:
    store = moto.store()
    stored(store, NOW + HOUR)
    [row] = scan(store)
    fail = {"without a reason": fail_without_reason, "without an answer": lose_the_connection}[how]
    store._table._client().meta.events.register("before-call.dynamodb.TransactWriteItems", fail)

    with pytest.raises(StoreUnavailable):
        store.hold_for_migration(row)


def lose_the_connection(**_: object) -> None:
    """Fail as botocore does when a connection ends: the error has a response, and there is none."""
    raise ConnectionClosedError(endpoint_url="https://dynamodb", response=None)


def fail_without_reason(**_: object) -> None:
    """Return a hook of boto3's that has a transaction fail for no known reason."""
    answer: Any = {"Error": {"Code": "TransactionCanceledException"}, "CancellationReasons": []}
    raise ClientError(answer, "TransactWriteItems")
