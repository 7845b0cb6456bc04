"""Bodies in S3: fetched when a handler reads them, carried as pointers by copies, and a failure like others where they cannot be fetched."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from aws.harness import Mapping, ladder, sqs_endpoint
from aws.recording_client import RecordingClient
from aws.records import event, record, text
from aws.shapes import stored_by_nservicebus
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.extensions import S3Bodies
from recoverable_local.testing import SqsWorld
from servers.buckets import BEFORE, BODY, Bucket, marked, pointer
from servers.fixtures import NewQueue
from servers.queues import HEADERS, Queue

TYPE, REASON = "NServiceBus.ExceptionInfo.ExceptionType", "NServiceBus.ExceptionInfo.Message"

SHAPES: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "the extended client's": lambda bucket, key: {"body": pointer(bucket, key), "attributes": marked()},
    "the extended client's first": lambda bucket, key: {
        "body": pointer(bucket, key, name=BEFORE),
        "attributes": marked("SQSLargePayloadSize"),
    },
    "NServiceBus's wrapper": lambda _bucket, key: stored_by_nservicebus(key, wraps=True),
    "NServiceBus's attribute": lambda _bucket, key: stored_by_nservicebus(key, wraps=False),
}


class Reading:
    """Reads the bodies of its messages, and fails until the last of the attempts that are expected.

    Args:
        failing: how many attempts fail once they have read.
    """

    def __init__(self, failing: int = 0) -> None:
        self.read: list[tuple[str, int, int]] = []
        self._failing = failing

    def __call__(self, message: Message) -> None:
        self.read.append((message.text, message.round, message.attempt))
        if len(self.read) <= self._failing:
            raise ValueError("no")


def reading(
    handler: Any, error: Queue, bucket: Bucket | str, *, immediate: int = 0, delayed: int = 0, **more: Any
) -> Any:
    """Return an endpoint that reads bodies from a bucket."""
    name = bucket if isinstance(bucket, str) else bucket.name
    return sqs_endpoint(
        handler, ladder(error, immediate=immediate, delayed=delayed), extensions=(S3Bodies((name,)),), **more
    )


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_handler_gets_the_body_in_each_attempt_and_copies_carry_the_pointer(
    orders: Queue, error: Queue, bucket: Bucket, shape: Any
) -> None:
    bucket.put("bodies/7")
    sent = shape(bucket.name, "bodies/7")
    orders.send(**sent)
    handler = Reading(failing=4)

    Mapping(orders, reading(handler, error, bucket, immediate=1, delayed=1)).run_dry()
    (copy,) = error.arrived()

    assert handler.read == [(BODY, round_, attempt) for round_ in range(2) for attempt in (1, 2)]
    assert (without_headers(copy.body), copy.attributes) == (without_headers(sent["body"]), own(sent))
    assert bucket.keys() == ["bodies/7"]


def without_headers(body: str) -> Any:
    """Return a body, and a wrapper without the headers in it."""
    if not body.startswith("{"):
        return body
    return {name: value for name, value in json.loads(body).items() if name != "Headers"}


def own(sent: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a message that hold no headers."""
    return {name: value for name, value in sent.get("attributes", {}).items() if name != HEADERS}


def test_a_copy_s_body_is_the_pointer_as_it_came(orders: Queue, error: Queue, bucket: Bucket) -> None:
    sent = pointer(bucket.name, "gone")
    orders.send(sent, attributes=marked())

    Mapping(orders, reading(Reading(), error, bucket)).run_dry()

    assert [copy.body for copy in error.arrived()] == [sent]


def test_a_body_that_no_handler_reads_is_not_fetched(orders: Queue, error: Queue, bucket: Bucket) -> None:
    orders.send(pointer(bucket.name, "gone"), attributes=marked())
    bucket.remove()

    Mapping(orders, reading(lambda message: None, error, bucket)).run_dry()

    assert error.count() == 0


def test_a_body_that_comes_later_than_its_pointer_is_fetched_by_a_retry(
    orders: Queue, error: Queue, bucket: Bucket
) -> None:
    orders.send(pointer(bucket.name, "late"), attributes=marked())
    handler = Reading()

    def put_late(message: Message) -> None:
        if message.attempt == 2:
            bucket.put("late")
        handler(message)

    Mapping(orders, reading(put_late, error, bucket, immediate=2)).run_dry()

    assert (handler.read, error.count()) == ([(BODY, 0, 2)], 0)


WRONG: dict[str, tuple[Callable[[Bucket], object], str]] = {
    "the object is gone": (
        lambda bucket: None,
        "the object is gone: a lifecycle rule, another receiver of the message, or",
    ),
    "the bucket is gone": (Bucket.remove, "there is no such bucket"),
    "the right is missing": (
        lambda bucket: bucket.deny("s3:GetObject"),
        "S3 denies access. Allow the function's role s3:GetObject on arn:aws:s3:::{}/*",
    ),
}


@pytest.mark.parametrize(("break_it", "why"), WRONG.values(), ids=WRONG)
def test_a_body_that_cannot_be_fetched_is_a_failure_with_all_its_retries_that_says_why(
    orders: Queue, error: Queue, bucket: Bucket, break_it: Callable[[Bucket], object], why: str
) -> None:
    break_it(bucket)
    orders.send(pointer(bucket.name, "bodies/7"), attributes=marked())
    attempts: list[int] = []

    def read(message: Message) -> None:
        attempts.append(message.attempt)
        message.json()

    Mapping(orders, reading(read, error, bucket, immediate=1, delayed=1)).run_dry()
    (copy,) = error.arrived()

    assert (attempts, copy.headers[TYPE]) == ([1, 2, 1, 2], "recoverable.extensions.BodyNotFetched")
    place = f"the body is in S3, in the bucket '{bucket.name}' under the key 'bodies/7', and cannot be fetched: "
    assert copy.headers[REASON].startswith(place + why.format(bucket.name))


def test_a_bucket_that_is_not_named_is_not_read_and_the_failure_names_the_setting(
    orders: Queue, error: Queue, bucket: Bucket
) -> None:
    bucket.put("secret")
    orders.send(pointer(bucket.name, "secret"), attributes=marked())
    handler = Reading()

    Mapping(orders, reading(handler, error, "order-bodies", immediate=1)).run_dry()

    assert handler.read == []
    assert error.arrived()[0].headers[REASON] == (
        f"the body is in the bucket '{bucket.name}', which S3Bodies(buckets=('order-bodies',)) does not name, so it is not read; "
        "add the bucket there, if it is one of yours"
    )


def test_without_the_setting_a_handler_gets_the_extended_client_s_pointer_as_it_came(
    orders: Queue, error: Queue, bucket: Bucket
) -> None:
    orders.send(pointer(bucket.name, "bodies/7"), attributes=marked())
    handler = Reading()

    Mapping(orders, sqs_endpoint(handler, ladder(error))).run_dry()

    assert handler.read == [(pointer(bucket.name, "bodies/7"), 0, 1)]


NO_POINTERS = {
    "text": "hello",
    "other JSON": '{"order": 42}',
    "another class": '["java.util.HashMap", {"s3BucketName": "b", "s3Key": "k"}]',
    "no key": '["software.amazon.payloadoffloading.PayloadS3Pointer", {"s3BucketName": "b"}]',
    "an empty key": pointer("b", ""),
    "a key that is no text": '["software.amazon.payloadoffloading.PayloadS3Pointer", {"s3BucketName": "b", "s3Key": 7}]',
    "more parts": '["software.amazon.payloadoffloading.PayloadS3Pointer", {"s3BucketName": "b", "s3Key": "k"}, 1]',
    "deep JSON": "[" * 10_000,
}


@pytest.mark.parametrize("body", NO_POINTERS.values(), ids=NO_POINTERS)
def test_a_body_that_is_marked_and_no_pointer_is_the_body(body: str) -> None:
    handler = Reading()
    one = record(body, attributes={"ExtendedPayloadSize": text("300000", "Number")})

    sqs_endpoint(handler, ladder("error"), extensions=(S3Bodies(("b",)),))(event(one))

    assert handler.read == [(body, 0, 1)]


def test_an_attempt_in_process_does_not_fetch_again(orders: Queue, error: Queue, bucket: Bucket) -> None:
    bucket.put("bodies/7")
    orders.send(pointer(bucket.name, "bodies/7"), attributes=marked())
    handler = Reading(failing=1)

    def read_once_there(message: Message) -> None:
        try:
            handler(message)
        finally:
            bucket.deny("s3:GetObject")

    settings = Recoverability(Immediate(1, in_process=True), Delayed(0), Failed(error.name))
    Mapping(orders, sqs_endpoint(read_once_there, settings, extensions=(S3Bodies((bucket.name,)),))).run_dry()

    assert (handler.read, error.count()) == ([(BODY, 0, 1), (BODY, 0, 2)], 0)


def test_a_coroutine_reads_it_too(orders: Queue, error: Queue, bucket: Bucket) -> None:
    bucket.put("bodies/7")
    orders.send(pointer(bucket.name, "bodies/7"), attributes=marked())
    handler = Reading()

    async def handle(message: Message) -> None:
        handler(message)

    Mapping(orders, reading(handle, error, bucket)).run_dry()

    assert handler.read == [(BODY, 0, 1)]


def test_a_fifo_queue_s_handler_reads_it_too(new_queue: NewQueue, bucket: Bucket) -> None:
    orders, error = new_queue("orders.fifo"), new_queue("error.fifo")
    bucket.put("bodies/7")
    orders.send(pointer(bucket.name, "bodies/7"), attributes=marked(), MessageGroupId="g", MessageDeduplicationId="d")
    handler = Reading()

    Mapping(orders, reading(handler, error, bucket)).run_dry()

    assert handler.read == [(BODY, 0, 1)]


def test_a_client_of_your_own_is_used(orders: Queue, error: Queue, bucket: Bucket, monkeypatch: Any) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    bucket.put("bodies/7")
    orders.send(pointer(bucket.name, "bodies/7"), attributes=marked())
    handler = Reading()
    own = S3Bodies((bucket.name,), client=bucket.client)

    Mapping(orders, sqs_endpoint(handler, ladder(error), extensions=(own,))).run_dry()

    assert handler.read == [(BODY, 0, 1)]


def test_in_a_world_it_is_read_too(sqs_world: SqsWorld, bucket: Bucket) -> None:
    bucket.put("bodies/7")
    handler = Reading(failing=1)
    own = S3Bodies((bucket.name,), client=bucket.client, delete=True)
    sqs_world.create_queue("orders")
    sqs_world.serve("orders", SqsEndpoint(handler, extensions=(own,)))
    sqs_world.send("orders", pointer(bucket.name, "bodies/7"), attributes={"ExtendedPayloadSize": 300_000})

    sqs_world.run()

    assert (handler.read, bucket.keys()) == ([(BODY, 0, 1), (BODY, 0, 2)], [])


def test_among_ten_attributes_the_one_that_marks_a_pointer_stays_an_attribute() -> None:
    many = {f"a{number}": text(str(number)) for number in range(9)} | {"ExtendedPayloadSize": text("300000", "Number")}
    client = RecordingClient()
    endpoint = sqs_endpoint(
        Reading(), ladder("error"), client=client.as_client(), extensions=(S3Bodies(("order-bodies",)),)
    )

    endpoint(event(record(pointer("another", "k"), attributes=many)))

    (entry,) = client.sent
    assert {"ExtendedPayloadSize", "NServiceBus.AmazonSQS.Headers"} <= entry["MessageAttributes"].keys()
    assert len(entry["MessageAttributes"]) == 10


MISTAKES: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "a text": (
        lambda: S3Bodies("bodies"),  # type: ignore[arg-type]
        TypeError,
        "S3Bodies(buckets) is 'bodies'; write a tuple of names, such as (\"order-bodies\",)",
    ),
    "no bucket": (
        lambda: S3Bodies(()),
        ValueError,
        'S3Bodies(buckets) names no bucket; write those that may be read, such as ("order-bodies",)',
    ),
    "a URL": (
        lambda: S3Bodies(("s3://bodies",)),
        ValueError,
        "S3Bodies(buckets) has 's3://bodies'; write the name of a bucket alone, such as \"order-bodies\", or an access point's ARN",
    ),
    "names alone": (
        lambda: sqs_endpoint(Reading(), ladder("error"), extensions=("order-bodies",)),
        TypeError,
        "SqsEndpoint(extensions) has 'order-bodies', which has none of the methods prepare, receive, open",
    ),
    "the class": (
        lambda: sqs_endpoint(Reading(), ladder("error"), extensions=(S3Bodies,)),
        TypeError,
        "SqsEndpoint(extensions) has the class S3Bodies; write an object of it: S3Bodies(...)",
    ),
    "one in place of a tuple": (
        lambda: sqs_endpoint(Reading(), ladder("error"), extensions=S3Bodies(("b",))),
        TypeError,
        f"SqsEndpoint(extensions) is {S3Bodies(('b',))!r}; write a tuple, such as (Heartbeat(timedelta(minutes=2)),)",
    ),
}


@pytest.mark.parametrize(("make", "kind", "why"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_where_it_is_made(make: Callable[[], object], kind: type[Exception], why: str) -> None:
    with pytest.raises(kind) as raised:
        make()

    assert str(raised.value) == why


PLAIN = """
import sys
from recoverable.aws import SqsEndpoint
from recoverable.extensions import S3Bodies

record = {
    "messageId": "1", "receiptHandle": "r", "body": "{}", "eventSource": "aws:sqs",
    "attributes": {"ApproximateReceiveCount": "1"}, "messageAttributes": {},
    "eventSourceARN": "arn:aws:sqs:eu-central-1:123456789012:orders",
}
endpoint = SqsEndpoint(lambda message: None, extensions=(S3Bodies(("order-bodies",)),))
endpoint({"Records": [record]})
print(sorted(name for name in sys.modules if name == "boto3" or name.startswith("recoverable.extensions._")))
"""


def test_until_a_message_has_a_pointer_no_sdk_is_imported() -> None:
    ran = subprocess.run([sys.executable, "-c", PLAIN], capture_output=True, text=True, check=True)

    assert ran.stdout == "['recoverable.extensions._s3_bodies']\n"
