"""Compare the tables that the search plays with to DynamoDB, as far as moto knows it: each call of a schedule is made on both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from botocore.exceptions import ClientError

from proof.timeouts.kinds import NAMED
from proof.timeouts.playing import play
from proof.timeouts.setting import AWAY, HOME
from proof.timeouts.table import Tables, place
from recoverable.timeouts import DynamoDbStore
from recoverable.timeouts._store import Selection
from waiting.rows import NOW, claims, keep, stored, take
from waiting.stores import Cloud, OneShard
from waiting.world import DAY, HOUR, MINUTE

VERBS = (
    "get_item",
    "put_item",
    "update_item",
    "query",
    "scan",
    "batch_get_item",
    "batch_write_item",
    "transact_write_items",
)


class Twin(Tables):
    """Tables that make each call on moto too."""

    def __init__(self, moto: Any) -> None:
        super().__init__()
        self._moto, self.compared = moto, Counter[str]()
        for verb in VERBS:
            setattr(self, verb, partial(self._both, verb, getattr(self, verb)))

    def delete(self, table: str, at: tuple[str, str]) -> None:
        super().delete(table, at)
        self._moto.delete_item(TableName=table, Key={"pk": {"S": at[0]}, "sk": {"S": at[1]}})

    def _both(self, verb: str, ours: Callable[..., Any], **request: Any) -> Any:
        answers = [outcome(do, request) for do in (ours, getattr(self._moto, verb))]
        assert comparable(answers[0]) == comparable(answers[1]), f"{verb} {request}"
        failed = isinstance(answers[0], ClientError)
        self.compared[f"{verb} refused" if failed else verb] += 1
        if isinstance(answers[0], ClientError):
            raise answers[0]
        return answers[0]


def outcome(do: Callable[..., Any], request: Any) -> Any:
    """Return what a call answers, or the error that it raises."""
    try:
        return do(**request)
    except ClientError as error:
        return error


def comparable(answer: Any) -> Any:
    """Return the parts of an answer that the store reads, in one order."""
    if isinstance(answer, ClientError):
        told: Any = answer.response
        return told["Error"]["Code"], [reason["Code"] for reason in told.get("CancellationReasons", ())]
    found = [*answer.get("Items", ()), *(each for some in answer.get("Responses", {}).values() for each in some)]
    return sorted(found, key=place), answer.get("Item"), answer.get("Attributes")


def everything(store: DynamoDbStore) -> None:
    """Call each method of a store, on what waits and on what does not."""
    due = [stored(store, NOW - n * MINUTE, correlation="saga-1") for n in range(3)]
    far = [stored(store, NOW + n * HOUR) for n in range(1, 4)]
    store.put(due[0], now=NOW)
    keep(store, retry_in=MINUTE)
    [first] = claims(store, NOW, owner="one")
    [second] = claims(store, NOW + 2 * MINUTE, owner="two")
    for claim in (first, second):
        store.renew(claim, until=NOW + 3 * MINUTE)
        store.release(claim)
    for each in (due[0], far[0], far[0]):
        store.cancel(each.id, now=NOW)
    store.ids_by_correlation("saga-1")
    store.put(far[0], now=NOW, again=True)
    take(store, NOW + 3 * MINUTE)
    late = stored(store, NOW - DAY)
    held = [row for page in store.scan(Selection(NOW, "shop")) for row in page if store.hold_for_migration(row)]
    store.release_from_migration(held[:1])
    store.mark_migrated(held[1:], now=NOW)
    store.hold_for_migration(held[-1])  # which is finished now
    store.put(far[2], now=NOW)
    assert (store.was_scheduled(far[0].id), take(store, NOW + 4 * MINUTE)) == (True, [late])


@pytest.mark.slow
def test_each_call_is_answered_as_by_dynamodb(moto: Cloud) -> None:
    name = moto.store()._table.name
    twin: Any = Twin(moto.client("dynamodb"))
    everything(OneShard(name, client=twin, page=2))

    refused = {"put_item refused", "update_item refused", "transact_write_items refused"}
    assert set(twin.compared) == {*VERBS, *refused}


@pytest.mark.slow
def test_so_are_those_of_a_schedule(moto: Cloud) -> None:
    twin = Twin(moto.client("dynamodb"))
    for table in (HOME, AWAY):
        DynamoDbStore(table, client=moto.client("dynamodb")).create_table()

    assert play(NAMED["timeouts, migrated"], 0, tables=twin).problems == []
    assert twin.compared.total() > 50
