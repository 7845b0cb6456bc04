"""Test what only the DynamoDB store does: its calls, its time to live, and messages too large for a row."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from botocore.exceptions import ClientError

from builders import seconds
from recoverable.timeouts import Dispatcher, DynamoDBStore, StoreUnavailable, TooLarge
from recoverable.timeouts.stores.dynamodb.calls import Calls
from recoverable.timeouts.stores.rows import Selection
from waiting.backlog import URL, CountingSqs
from waiting.rows import NOW, claims, poll, stored, take
from waiting.stores import Cloud, OneShard
from waiting.world import DAY, HOUR, MINUTE

LARGE = "x" * 500_000


def items(store: DynamoDBStore, cloud: Cloud) -> list[Any]:
    """Return all items of the table."""
    return list(cloud.client("dynamodb").scan(TableName=store._table.name, ConsistentRead=True)["Items"])


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

    def __init__(self, cloud: Cloud, store: DynamoDBStore) -> None:
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
    store._table._calls = Calls(lambda: met, store._table.name, sleep=waits.append)
    met = moto.client("dynamodb")
    met.meta.events.register("before-call.dynamodb.UpdateItem", conflict([3]))
    late = stored(store, NOW - MINUTE)

    assert [wait <= most for wait, most in zip(waits, (0.02, 0.04, 0.08), strict=True)] == [True] * 3
    assert take(store, NOW + MINUTE) == [late]


@pytest.mark.parametrize(
    ("reasons", "cancelled"),
    [
        (["TransactionConflict", "None"], True),
        (["None", "ThrottlingError"], True),
        (["ConditionalCheckFailed", "None"], False),
    ],
    ids=str,
)
def test_a_cancellation_that_is_put_off_is_asked_again(moto: Cloud, reasons: list[str], *, cancelled: bool) -> None:
    store, calls = moto.store(), iter(range(2))
    made = stored(store, NOW + HOUR)
    busy = moto.client("dynamodb")

    def put_off(**_: object) -> None:
        if next(calls, None) is not None:
            answer: Any = {"CancellationReasons": [{"Code": reason} for reason in reasons]}
            raise ClientError(answer, "TransactWriteItems")

    busy.meta.events.register("before-call.dynamodb.TransactWriteItems", put_off)
    store = OneShard(store._table.name, client=busy)

    assert store.cancel(made.id, now=NOW) is cancelled


def test_a_cancellation_that_fails_without_a_reason_is_not_taken_for_done(moto: Cloud) -> None:
    store = moto.store()
    made = stored(store, NOW + HOUR)
    store._table._calls.client().meta.events.register("before-call.dynamodb.TransactWriteItems", fail_without_reason)

    with pytest.raises(StoreUnavailable):
        store.cancel(made.id, now=NOW)


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


def test_a_message_too_large_for_a_row_is_refused_before_anything_is_written(moto: Cloud) -> None:
    store = moto.store()

    with pytest.raises(TooLarge, match=r"a timeout of 500,\d+ bytes; a row takes 400,000. Give the store a bucket"):
        stored(store, NOW + HOUR, body=LARGE, correlation="saga-1")
    assert items(store, moto) == []


def test_a_message_too_large_for_a_row_waits_in_s3_and_is_gone_when_it_is_dispatched(cloud: Cloud) -> None:
    bucket = cloud.bucket()
    store = cloud.store(bucket=bucket)
    made = stored(store, NOW + HOUR, body=LARGE)
    [key] = keys(cloud, bucket)

    assert key.startswith(f"timeouts/{made.id}-")
    assert (take(store, NOW + HOUR), keys(cloud, bucket)) == ([made], [])


def test_a_message_that_is_stored_twice_is_in_s3_once(moto: Cloud) -> None:
    bucket = moto.bucket()
    store = moto.store(bucket=bucket)
    made = stored(store, NOW + HOUR, body=LARGE)
    store.put(made, now=NOW)

    assert len(keys(moto, bucket)) == 1
    assert take(store, NOW + HOUR) == [made]


class Twice:
    """A table whose writes are each made twice, and only the second result is returned.

    Args:
        table: the table.
    """

    def __init__(self, table: Any) -> None:
        self._table = table

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)

    def put(self, *given: Any) -> bool:
        self._table.put(*given)
        return bool(self._table.put(*given))

    def update(self, *given: Any, **change: Any) -> Any:
        self._table.update(*given, **change)
        return self._table.update(*given, **change)


def test_a_message_whose_row_was_written_without_an_answer_stays_in_s3(moto: Cloud) -> None:
    """The client makes the call again, and hears that the row is there: its own."""
    store = moto.store(bucket=moto.bucket())
    table: Any = Twice(store._writer._table)
    store._writer._table = table
    made = stored(store, NOW + HOUR, body=LARGE)

    assert take(store, NOW + HOUR) == [made]


def test_a_shard_that_was_taken_without_an_answer_is_ones_own(moto: Cloud) -> None:
    """The client makes the call again, and hears that somebody has it: itself."""
    store = moto.store()
    table: Any = Twice(store._shards._table)
    store._shards._table = table
    made = stored(store, NOW)

    assert take(store) == [made]
    assert list(claims(store, NOW, owner="two")) != []


def test_a_cancelled_message_leaves_s3(moto: Cloud) -> None:
    bucket = moto.bucket()
    store = moto.store(bucket=bucket)
    made = stored(store, NOW + HOUR, body=LARGE)

    assert store.cancel(made.id, now=NOW)
    assert keys(moto, bucket) == []


def test_what_was_cancelled_is_cancelled_though_what_belongs_to_it_cannot_be_deleted(
    moto: Cloud, caplog: pytest.LogCaptureFixture
) -> None:
    store = moto.store(bucket=moto.bucket())
    made = stored(store, NOW + HOUR, body=LARGE)
    without_bucket = OneShard(store._table.name, client=moto.client("dynamodb"), s3=moto.client("s3"))

    assert without_bucket.cancel(made.id, now=NOW)
    assert "could not be deleted: S3: ParamValidationError. It is cancelled all the same." in caplog.text
    assert take(store, NOW + HOUR) == []


@pytest.mark.parametrize("timeout", [0, -1.0, 61, "1"], ids=str)
def test_a_call_timeout_out_of_range_is_refused(timeout: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"DynamoDBStore\(timeout\) is .*; write a number"):
        DynamoDBStore("timeouts", timeout=timeout)


@pytest.mark.parametrize(
    ("lost", "why"),
    [("object", "its message is gone from S3, where it was 'timeouts/"), ("bucket", "this store was given no bucket")],
)
def test_a_message_that_is_not_in_s3_is_kept_and_reported(moto: Cloud, lost: str, why: str) -> None:
    bucket = moto.bucket()
    store = moto.store(bucket=bucket)
    stored(store, NOW, body=LARGE)
    [key] = keys(moto, bucket)
    moto.client("s3").delete_object(Bucket=bucket, Key=key)
    if lost == "bucket":
        store = OneShard(store._table.name, client=moto.client("dynamodb"))
    [row] = poll(store)

    assert (row.timeout, why in row.problem) == (None, True)


def keys(cloud: Cloud, bucket: str) -> list[str]:
    """Return the keys of a bucket."""
    return [each["Key"] for each in cloud.client("s3").list_objects_v2(Bucket=bucket).get("Contents", [])]


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

    assert list(store.scan(Selection())) == []
