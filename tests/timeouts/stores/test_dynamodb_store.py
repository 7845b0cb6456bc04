"""Test what only the DynamoDB store does: its calls, its time to live, and messages too large for a row."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from builders import seconds
from recoverable.timeouts import Dispatcher, DynamoDbStore
from waiting.backlog import URL, CountingSqs
from waiting.rows import NOW, claims, poll, scan, stored, take
from waiting.stores import Cloud, OneShard, items
from waiting.world import HOUR, MINUTE


def test_only_what_is_done_with_has_a_time_to_live(moto: Cloud) -> None:
    store = moto.store()
    stored(store, NOW)
    take(store)
    waiting = stored(store, NOW + HOUR, correlation="saga-1")
    cancelled = stored(store, NOW + 2 * HOUR)
    store.cancel(cancelled.id, now=NOW)
    outcomes = {item["sk"]["S"]: item.get("outcome", {}).get("S") for item in items(store, moto) if "expires" in item}

    assert sorted(outcomes.values()) == ["cancelled", "dispatched"]
    assert waiting.id not in outcomes


def test_it_expires_a_day_after_it_was_done_with(moto: Cloud) -> None:
    store = moto.store()
    stored(store, NOW)
    take(store)

    [expires] = [int(item["expires"]["N"]) for item in items(store, moto) if "expires" in item]
    assert expires == int(NOW.timestamp()) + 86_400


def test_the_table_takes_expires_for_its_time_to_live(moto: Cloud) -> None:
    name = moto.store()._table.name
    told = moto.client("dynamodb").describe_time_to_live(TableName=name)["TimeToLiveDescription"]

    assert (told["TimeToLiveStatus"], told["AttributeName"]) == ("ENABLED", "expires")


class Counted:
    """A store of that table, and the calls that it makes."""

    def __init__(self, cloud: Cloud, store: DynamoDbStore) -> None:
        self.calls: Counter[str] = Counter()
        client = cloud.client("dynamodb")
        client.meta.events.register("before-call.dynamodb", self._called)
        self.store = OneShard(store._table.name, client=client)

    def _called(self, model: Any, **_: object) -> None:
        self.calls[model.name] += 1


def test_storing_is_a_write_and_a_look(moto: Cloud) -> None:
    store = moto.store()
    stored(store, NOW + HOUR)
    counted = Counted(moto, store)
    stored(counted.store, NOW + HOUR)

    assert counted.calls == {"PutItem": 1, "GetItem": 1}


def test_fifty_are_dispatched_in_two_marks(moto: Cloud) -> None:
    store, sqs = moto.store(), CountingSqs()
    for _ in range(50):
        stored(store, NOW + MINUTE, to=URL)
    counted = Counted(moto, store)
    given: Any = sqs
    Dispatcher(counted.store, client=given, clock=lambda: NOW).run()

    assert counted.calls["BatchWriteItem"] == 2
    assert counted.calls["Query"] <= 5
    assert (counted.calls["GetItem"], counted.calls["UpdateItem"]) == (1, 2)  # to take the shard, and to give it back


def test_a_poll_with_nothing_due_reads_the_minutes_that_may_hold_something(moto: Cloud) -> None:
    store = moto.store()
    stored(store, NOW - MINUTE)
    for _ in range(3):
        take(store)
    counted = Counted(moto, store)
    poll(counted.store)

    assert counted.calls == {"GetItem": 1, "UpdateItem": 2, "Query": 3}  # this minute and the next two


def test_what_is_stored_for_soon_at_each_poll_holds_back_no_watermark_and_is_not_pointed_to(moto: Cloud) -> None:
    store = moto.store()
    stored(store, NOW)
    writer = Counted(moto, store)
    for minutes in range(6):
        then = NOW + minutes * MINUTE
        for claim in claims(store, then):
            for page in store.due(claim):
                store.mark_dispatched(page, now=then)
            stored(writer.store, then + seconds(40))
            store.release(claim)
            stored(writer.store, then + seconds(50))
    reader = Counted(moto, store)
    poll(reader.store, NOW + 6 * MINUTE)

    assert writer.calls == {"PutItem": 12, "GetItem": 12}
    assert reader.calls == {"GetItem": 1, "UpdateItem": 2, "Query": 4}  # the minute before, too


@pytest.mark.parametrize("timeout", [0, -1.0, 61, "1"], ids=str)
def test_a_call_timeout_out_of_range_is_refused(timeout: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"DynamoDbStore\(timeout\) is .*; write a number"):
        DynamoDbStore("timeouts", timeout=timeout)


@pytest.mark.parametrize(
    "strange",
    [
        {"version": {"N": "2"}},
        {"version": {"S": "one"}},
        {"message": {"S": "no json"}},
        {"message": {"S": "[]"}},
        {"message": {"N": "7"}},
    ],
    ids=str,
)
def test_an_item_that_somebody_else_wrote_is_kept(moto: Cloud, strange: dict[str, Any]) -> None:
    store = moto.store()
    stored(store, NOW - HOUR)
    [item] = [item for item in items(store, moto) if item["pk"]["S"].startswith("due#")]
    moto.client("dynamodb").put_item(TableName=store._table.name, Item=item | strange)
    report = Dispatcher(store, clock=lambda: NOW).run()

    assert (report.kept, report.dispatched, poll(store)) == (1, 0, [])


def test_an_item_whose_id_says_no_due_time_is_kept_once_its_minute_is_over(moto: Cloud) -> None:
    store = moto.store()
    stored(store, NOW - MINUTE, to=URL)
    [item] = [item for item in items(store, moto) if item["pk"]["S"].startswith("due#")]
    moto.client("dynamodb").put_item(TableName=store._table.name, Item=item | {"sk": {"S": "zzz"}})
    [kept] = [row for row in poll(store) if row.timeout is None]

    assert (kept.id, kept.problem) == ("zzz", "its id says no due time in range")
    sqs: Any = CountingSqs()
    assert Dispatcher(store, clock=lambda: NOW, client=sqs).run().kept == 1
    assert poll(store, NOW + MINUTE) == []


def test_what_was_done_with_does_not_come_back_in_a_scan(moto: Cloud) -> None:
    store = moto.store()
    for n in range(3):
        stored(store, NOW + seconds(n))
    take(store)

    assert scan(store) == []
