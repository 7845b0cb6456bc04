"""Test rows that this package did not write, or cannot read: they hold up nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from builders import seconds
from recoverable.timeouts import Dispatcher, Report
from recoverable.timeouts._dynamodb_items import due_key, kept_key
from recoverable_local.timeouts import SqliteStore
from waiting.backlog import URL, CountingSqs
from waiting.rows import NOW, keep, scan, stored, take
from waiting.stores import Cloud
from waiting.world import HOUR, MINUTE, Shop

STRANGE = [{"S": "soon"}, {"N": "-1"}, {"N": "1.5"}, {"N": "1" + 30 * "0"}, None]


@pytest.mark.parametrize("where", ["due#", "kept#"])
@pytest.mark.parametrize("strange", STRANGE, ids=str)
def test_what_was_kept_and_does_not_say_until_when_is_tried_again(
    moto: Cloud, where: str, strange: dict[str, str] | None
) -> None:
    store = moto.store()
    made = stored(store, NOW)
    keep(store)
    client, table = moto.client("dynamodb"), store._table.name
    items = client.scan(TableName=table, ConsistentRead=True)["Items"]
    [item] = [item for item in items if item["pk"]["S"].startswith(where)]
    del item["retry_at"]
    client.put_item(TableName=table, Item=item | ({"retry_at": strange} if strange else {}))

    assert where == "kept#" or not store.cancel(made.id, now=NOW)
    assert take(store, NOW + HOUR) == [made]


def test_what_is_kept_is_not_tried_before_its_time_because_what_points_to_it_says_no_moment(moto: Cloud) -> None:
    store = moto.store()
    late, soon = stored(store, NOW), stored(store, NOW + 4 * MINUTE)
    keep(store)
    keep(store, NOW + 2 * MINUTE, retry_in=5 * MINUTE)
    where = kept_key(late.id)
    assert where is not None
    store._table.update(where, "REMOVE retry_at")

    assert take(store, NOW + 7 * MINUTE) == [soon]
    assert take(store, NOW + HOUR) == [late]


def test_what_was_kept_in_a_file_and_does_not_say_until_when_is_tried_again() -> None:
    store = SqliteStore()
    made = stored(store, NOW)
    keep(store)
    store._database.execute("UPDATE timeouts SET at = 'soon'")

    assert not store.cancel(made.id, now=NOW)
    assert take(store, NOW + MINUTE) == [made]
    store.close()


@pytest.mark.parametrize("name", ["correlation", "s3"])
def test_a_row_whose_fields_are_of_other_types_holds_up_nothing(moto: Cloud, name: str) -> None:
    store = moto.store(bucket=moto.bucket())
    bad, good = stored(store, NOW, to=URL), stored(store, NOW + seconds(1), to=URL)
    key = due_key(bad.id)
    assert key is not None
    store._table.update(key, "SET #name = :it", None, {":it": 7}, ExpressionAttributeNames={"#name": name})
    sqs: Any = CountingSqs()
    Dispatcher(store, client=sqs, clock=lambda: NOW).run()

    assert good.id not in {row.id for row in scan(store)}
    assert Dispatcher(store, client=sqs, clock=lambda: NOW).run().finished


@pytest.mark.parametrize(
    "content",
    [
        {"body": None},
        {"body": "\ud800"},
        {"attributes": {"\ud800": {"DataType": "String", "StringValue": "v"}}},
        {"attributes": {"a": {"DataType": "String", "StringValue": "\ud800"}}},
        {"group": 7},
        {"attributes": {"a": {"StringValue": "no kind"}}},
        {"attributes": {"a": {"DataType": "String"}}},
        {"attributes": {"a": {"DataType": "String", "StringValue": 5}}},
        {"attributes": {"a": {"DataType": 5, "StringValue": "v"}}},
        {"attributes": []},
    ],
    ids=str,
)
def test_a_message_of_other_types_does_not_hold_up_others(content: dict[str, Any]) -> None:
    store = SqliteStore()
    shop = Shop(store, receiving=False)
    bad = shop.timeouts.schedule("orders", "bad", delay=HOUR)
    shop.timeouts.schedule("orders", "good", delay=HOUR)
    message = json.dumps({"body": "x", "attributes": {}, "group": None, **content})
    store._database.execute("UPDATE timeouts SET message = ? WHERE id = ?", (message, bad))
    shop.world.run(for_=HOUR)

    assert shop.dispatch() == Report(dispatched=1, kept=1, finished=True)
    assert shop.bodies("orders") == ["good"]
    store.close()


@pytest.mark.parametrize(
    ("version", "message", "why"),
    [
        (2, '{"body": "x"}', "it is of version 2, and this package reads 1; deploy the newer one"),
        (1, "no json", "its content cannot be read (JSONDecodeError)"),
        (1, '{"attributes": {}}', "its content cannot be read (KeyError)"),
        (1, '{"body":"x","attributes":{"a":{"BinaryValue":7}},"group":null}', "its content cannot be read (TypeError)"),
    ],
)
def test_a_row_that_cannot_be_read_is_kept_and_reported(
    caplog: pytest.LogCaptureFixture, version: int, message: str, why: str
) -> None:
    store = SqliteStore()
    shop = Shop(store, receiving=False)
    good = [shop.timeouts.schedule("orders", "good", delay=HOUR) for _ in range(2)]
    store._database.execute("UPDATE timeouts SET version = ?, message = ? WHERE id = ?", (version, message, good[0]))
    shop.world.run(for_=HOUR)

    assert shop.dispatch() == Report(dispatched=1, kept=1, finished=True)
    assert why in caplog.text
    store.close()


def test_a_row_of_a_newer_version_is_sent_once_it_can_be_read() -> None:
    store = SqliteStore()
    shop = Shop(store, receiving=False)
    shop.timeouts.schedule("orders", "hello", delay=HOUR)
    store._database.execute("UPDATE timeouts SET version = 2")
    shop.run_each_minute(HOUR)
    store._database.execute("UPDATE timeouts SET version = 1")
    shop.run_each_minute(HOUR)

    assert shop.bodies("orders") == ["hello"]
    store.close()
