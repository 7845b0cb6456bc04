"""When a body in S3 is deleted: where that is asked for, once its handler has succeeded and SQS has confirmed that its message is gone."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from aws.harness import Mapping, ladder, sqs_endpoint
from aws.shapes import stored_by_nservicebus
from recoverable import Discard, Message
from recoverable.extensions import S3Bodies
from recoverable_local.testing import Refused
from servers.buckets import Bucket, marked, pointer
from servers.faulty_proxy import FaultyProxy, Rule
from servers.fixtures import NewQueue
from servers.queues import Queue, bodies


def read(message: Message) -> None:
    """Read the body."""
    message.json()


def fail(message: Message) -> None:
    """Read the body, and fail."""
    message.json()
    raise ValueError("no")


def deleting(handler: Any, error: Queue, bucket: Bucket, **settings: Any) -> Any:
    """Return an endpoint that deletes bodies."""
    return sqs_endpoint(handler, ladder(error, **settings), extensions=(S3Bodies((bucket.name,), delete=True),))


@pytest.fixture
def sent(orders: Queue, bucket: Bucket) -> str:
    """Return the key of the body of a message in the orders queue."""
    bucket.put("bodies/7")
    orders.send(pointer(bucket.name, "bodies/7"), attributes=marked())
    return "bodies/7"


def test_the_body_of_a_message_that_is_done_with_is_deleted(
    orders: Queue, error: Queue, bucket: Bucket, sent: str
) -> None:
    Mapping(orders, deleting(read, error, bucket)).run_dry()

    assert bucket.keys() == []


def test_nservicebus_s_body_is_deleted_from_the_first_bucket(orders: Queue, error: Queue, bucket: Bucket) -> None:
    bucket.put("bodies/7")
    orders.send(**stored_by_nservicebus("bodies/7", wraps=True))

    Mapping(orders, deleting(read, error, bucket)).run_dry()

    assert bucket.keys() == []


def test_a_body_stays_where_its_deletion_is_not_asked_for(
    orders: Queue, error: Queue, bucket: Bucket, sent: str
) -> None:
    Mapping(orders, sqs_endpoint(read, ladder(error), extensions=(S3Bodies((bucket.name,)),))).run_dry()

    assert bucket.keys() == [sent]


def test_the_body_of_a_message_that_fails_stays_with_its_copies_and_goes_once_one_succeeds(
    orders: Queue, error: Queue, bucket: Bucket, sent: str
) -> None:
    seen: list[list[str]] = []

    def fail_in_the_first_round(message: Message) -> None:
        seen.append(bucket.keys())
        if message.round == 0:
            fail(message)

    Mapping(orders, deleting(fail_in_the_first_round, error, bucket, immediate=1, delayed=1)).run_dry()

    assert (seen, bucket.keys()) == ([[sent]] * 3, [])


def test_the_body_of_a_message_that_is_given_up_stays(orders: Queue, error: Queue, bucket: Bucket, sent: str) -> None:
    Mapping(orders, deleting(fail, error, bucket)).run_dry()

    assert (error.count(), bucket.keys()) == (1, [sent])


def test_the_body_of_a_message_that_is_discarded_stays(orders: Queue, error: Queue, bucket: Bucket, sent: str) -> None:
    endpoint = deleting(fail, error, bucket, policy=lambda _settings, _failed: Discard("no longer wanted"))

    Mapping(orders, endpoint).run_dry()

    assert bucket.keys() == [sent]


def test_the_body_stays_while_its_message_may_come_back(
    orders: Queue, error: Queue, bucket: Bucket, sent: str, proxy: FaultyProxy
) -> None:
    proxy.rules = [Rule("DeleteMessageBatch", Refused("InternalError"))]

    Mapping(orders, deleting(read, error, bucket)).poll()

    assert bucket.keys() == [sent]


def test_the_body_goes_when_what_its_handler_sent_has_been_taken(
    orders: Queue, error: Queue, bucket: Bucket, sent: str, new_queue: NewQueue
) -> None:
    placed = new_queue("placed")

    def send(message: Message) -> None:
        read(message)
        message.send(placed.name, "placed")

    Mapping(orders, deleting(send, error, bucket)).run_dry()

    assert (bodies(placed), bucket.keys()) == (["placed"], [])


def test_messages_without_a_pointer_cost_no_call_more(
    orders: Queue, error: Queue, bucket: Bucket, proxy: FaultyProxy
) -> None:
    orders.send('{"order": 42}')

    Mapping(orders, deleting(read, error, bucket)).run_dry()

    assert proxy.calls == {}


def test_a_body_of_a_bucket_that_is_not_named_is_never_deleted(
    orders: Queue, error: Queue, bucket: Bucket, sent: str
) -> None:
    others = S3Bodies(("order-bodies",), delete=True)

    Mapping(orders, sqs_endpoint(lambda message: None, ladder(error), extensions=(others,))).run_dry()

    assert bucket.keys() == [sent]


@pytest.mark.parametrize(
    ("break_it", "reason"),
    [(lambda bucket: bucket.deny("s3:DeleteObject"), "AccessDenied"), (Bucket.remove, "NoSuchBucket")],
    ids=["the right is missing", "the bucket is gone"],
)
def test_a_body_that_cannot_be_deleted_is_logged_and_its_message_is_done_with_all_the_same(
    orders: Queue, error: Queue, bucket: Bucket, sent: str, caplog: pytest.LogCaptureFixture, break_it: Any, reason: str
) -> None:
    def read_and_break(message: Message) -> None:
        read(message)
        break_it(bucket)

    Mapping(orders, deleting(read_and_break, error, bucket)).run_dry()

    [line] = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert line.startswith(f"S3 DeleteObjects failed for 1 bodies in '{bucket.name}' (")
    assert reason in line
    assert error.count() == 0
