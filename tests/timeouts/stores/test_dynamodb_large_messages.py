"""Test messages that are too large for a row of DynamoDB: they wait in S3."""

from __future__ import annotations

from typing import Any

import pytest

from recoverable.timeouts import TooLarge
from waiting.rows import NOW, poll, stored, take
from waiting.stores import Cloud, OneShard, Twice, items
from waiting.world import HOUR

LARGE = "x" * 500_000


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


def test_a_message_whose_row_was_written_without_an_answer_stays_in_s3(moto: Cloud) -> None:
    """The client makes the call again, and hears that the row is there: its own."""
    store = moto.store(bucket=moto.bucket())
    table: Any = Twice(store._table)
    store._table = table
    made = stored(store, NOW + HOUR, body=LARGE)

    assert take(store, NOW + HOUR) == [made]


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
