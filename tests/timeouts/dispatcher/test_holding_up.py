"""Test that nothing holds up the timeouts behind it: messages that S3 does not give, endless minutes, queues that do not exist or answer, marks that fail."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from builders import seconds
from recoverable.timeouts import Dispatcher, Report, Store, StoreUnavailable
from recoverable.timeouts._dynamodb_items import due_key
from waiting.backlog import URL
from waiting.rows import NOW, poll, stored, take
from waiting.stores import Cloud
from waiting.world import HOUR, MINUTE, Meddled, Shop

LARGE = "x" * 500_000


def refusing(code: str, status: int, operation: str) -> Any:
    """Return a hook of boto3's that has a service refuse with this code."""

    def refuse(**_: object) -> None:
        answer: Any = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
        raise ClientError(answer, operation)

    return refuse


FOR_GOOD = [
    ("AccessDenied", 403),
    ("InvalidObjectState", 403),
    ("InvalidRequest", 400),
    ("KMS.DisabledException", 400),
    ("KMS.KMSInvalidStateException", 400),
    ("NoSuchBucket", 404),
    ("NoSuchKey", 404),
]
"""Answers of S3 that concern one message, its key or its bucket."""

FOR_NOW = [
    ("ExpiredToken", 400),
    ("InternalError", 500),
    ("InvalidAccessKeyId", 403),
    ("KMS.ThrottlingException", 400),
    ("RequestTimeout", 400),
    ("RequestTimeTooSkewed", 403),
    ("SlowDown", 503),
    ("TooManyRequests", 429),
]
"""Answers of S3 that the next call may not have."""


@pytest.mark.parametrize(("code", "status"), FOR_GOOD)
def test_a_message_that_s3_refuses_does_not_hold_up_others(moto: Cloud, code: str, status: int) -> None:
    store = moto.store(bucket=moto.bucket())
    stored(store, NOW, body=LARGE, to=URL)
    good = stored(store, NOW + seconds(1), to=URL)
    store._bodies._client().meta.events.register("before-call.s3.GetObject", refusing(code, status, "GetObject"))
    [bad, row] = poll(store)

    assert (bad.timeout, f"where it was 'timeouts/{bad.id}-" in bad.problem) == (None, True)
    assert row.timeout == good


def test_what_another_has_dispatched_since_it_was_read_is_not_kept(moto: Cloud) -> None:
    store = moto.store(bucket=moto.bucket())
    made = stored(store, NOW, body=LARGE)
    stale = store._table.get(due_key(made.id) or {})
    assert stale is not None
    take(store)

    assert [list(page) for page in store._to_rows([stale])] == [[]]


@pytest.mark.parametrize(("code", "status"), FOR_NOW)
def test_s3_that_does_not_answer_now_is_an_unavailable_store(moto: Cloud, code: str, status: int) -> None:
    store = moto.store(bucket=moto.bucket())
    stored(store, NOW, body=LARGE)
    store._bodies._client().meta.events.register("before-call.s3.GetObject", refusing(code, status, "GetObject"))

    with pytest.raises(StoreUnavailable, match=code):
        poll(store)


def test_a_message_in_s3_that_is_no_text_does_not_hold_up_others(moto: Cloud) -> None:
    bucket = moto.bucket()
    store = moto.store(bucket=bucket)
    made = stored(store, NOW, body=LARGE)
    [key] = [each["Key"] for each in moto.client("s3").list_objects_v2(Bucket=bucket)["Contents"]]
    moto.client("s3").put_object(Bucket=bucket, Key=key, Body=b"\xff")
    [row] = poll(store)

    assert (row.id, row.problem) == (made.id, f"its message in S3, '{key}', is no text")


def test_a_gap_longer_than_a_run_is_passed_by_several(moto: Cloud) -> None:
    store, left = moto.store(), [0]
    then = NOW - 150 * MINUTE
    stored(store, then)
    take(store, then)
    store._table._client().meta.events.register("before-call.dynamodb.Query", lambda **_: left.append(left[-1] - 1))
    dispatcher, finished = Dispatcher(store, clock=lambda: NOW), []
    for _ in range(2):
        left.append(105)
        finished.append(dispatcher.run(lambda: left[-1]).finished)

    assert finished == [False, True]


@pytest.mark.parametrize("to", ["arn:aws:sqs:eu-west-1", "arn:aws:sns:eu-west-1:123456789012:orders"], ids=str)
def test_what_names_no_queue_is_kept(local_store: Store, to: str) -> None:
    shop = Shop(local_store, receiving=False)
    stored(local_store, shop.now(), to=to)

    assert shop.dispatch() == Report(kept=1, finished=True)


@pytest.mark.parametrize(("late", "kept"), [(HOUR, 0), (HOUR + seconds(1), 1)], ids=str)
def test_a_queue_that_does_not_answer_for_an_hour_holds_up_nothing(
    local_store: Store, late: timedelta, kept: int
) -> None:
    shop = Shop(local_store, receiving=False)
    stored(local_store, shop.now(), to=URL)
    shop.world.run(for_=late)

    def refuse(_name: str) -> None:
        raise ConnectionError("no route")

    shop.dispatcher = shop.new_dispatcher(client=Meddled(shop.world.client, before=refuse))

    assert shop.dispatch() == Report(kept=kept, postponed=1 - kept, finished=True)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("ExpiredTokenException", 403),
        ("InvalidSignatureException", 403),
        ("RequestAbortedException", 400),
        ("RequestTimeoutException", 408),
    ],
)
def test_an_answer_about_the_sender_alone_sets_nothing_aside(local_store: Store, code: str, status: int) -> None:
    shop = Shop(local_store, receiving=False)
    stored(local_store, shop.now(), to=URL)
    refuse = refusing(code, status, "SendMessageBatch")
    shop.dispatcher = shop.new_dispatcher(client=Meddled(shop.world.client, before=lambda _: refuse()))

    assert shop.dispatch() == Report(postponed=1, finished=True)


@pytest.mark.parametrize("kind", ["sqlite", "moto"])
def test_what_an_outage_of_sqs_has_held_back_for_long_comes_minutes_after_it(
    kind: str, moto: Cloud, local_store: Store
) -> None:
    store = moto.store() if kind == "moto" else local_store
    shop, sick = Shop(store, receiving=False), [True]

    def refuse(_name: str) -> None:
        if sick:
            raise ConnectionError("no route")

    shop.dispatcher = shop.new_dispatcher(client=Meddled(shop.world.client, before=refuse))
    for n in range(30):
        shop.timeouts.schedule("orders", f"{n}", delay=HOUR)
    shop.world.run(for_=HOUR)
    for minutes in (0, 61, 1, 1):
        shop.world.run(for_=minutes * MINUTE)
        shop.dispatch()
    sick.clear()
    shop.run_each_minute(5 * MINUTE)

    assert [report.kept for report in shop.reports[:4]] == [0, 30, 0, 0]
    assert len(shop.bodies("orders")) == 30


def test_what_is_sent_and_cannot_be_marked_is_not_sent_again(local_store: Store) -> None:
    shop, sick = Shop(local_store, receiving=False), [True]

    def refuse(name: str) -> None:
        if sick and name == "mark_dispatched":
            raise StoreUnavailable("it writes nothing")

    meddled: Any = Meddled(local_store, before=refuse)
    shop.store = meddled
    shop.dispatcher = shop.new_dispatcher()
    for n in range(3):
        shop.timeouts.schedule("orders", f"{n}", delay=HOUR)
    shop.world.run(for_=HOUR)
    shop.dispatch()
    sick.clear()
    shop.world.run(for_=MINUTE)

    assert shop.dispatch() == Report(dispatched=3, behind=60.0, finished=True)
    assert sorted(shop.bodies("orders")) == ["0", "1", "2"]
    assert shop.dispatch() == Report(finished=True)
