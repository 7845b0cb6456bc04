"""Queues by name, ARN and URL: who is meant, and under which URL a client reaches them; without a look-up call."""

from __future__ import annotations

import pytest

from recoverable import Failed, Message, Recoverability
from recoverable._ladder.delivery import Delivery
from recoverable._sqs.names import destination, names_source
from recoverable._sqs.queues import Queue, queue_from_arn
from recoverable.aws import SqsEndpoint

SOURCE = Queue("eu-west-1", "123456789012", "orders")
SOURCE_ARN = "arn:aws:sqs:eu-west-1:123456789012:orders"
LOCAL = "http://127.0.0.1:4566"
AWS = "https://sqs.eu-west-1.amazonaws.com"


@pytest.mark.parametrize(
    ("arn", "queue"),
    [
        ("arn:aws:sqs:eu-west-1:123456789012:orders", SOURCE),
        ("arn:aws:sqs:eu-west-1:123456789012:o.fifo", Queue("eu-west-1", "123456789012", "o.fifo")),
        ("arn:aws-cn:sqs:cn-north-1:1:orders", Queue("cn-north-1", "1", "orders")),
        ("arn:aws-us-gov:sqs:us-gov-west-1:1:orders", Queue("us-gov-west-1", "1", "orders")),
    ],
)
def test_an_arn_names_a_queue(arn: str, queue: Queue) -> None:
    assert queue_from_arn(arn) == queue


@pytest.mark.parametrize(
    "arn",
    [
        "",
        "orders",
        "arn:aws:sqs:eu-west-1:123456789012",
        "arn:aws:sqs:eu-west-1:123456789012:",
        "arn:aws:sqs:eu-west-1:123456789012:orders:more",
        "arn:aws:sns:eu-west-1:123456789012:orders",
        "arn:aws:dynamodb:eu-west-1:123456789012:table/orders",
        "xrn:aws:sqs:eu-west-1:123456789012:orders",
    ],
)
def test_what_is_no_queue_s_arn_is_refused_with_what_one_looks_like(arn: str) -> None:
    with pytest.raises(ValueError, match=r"is no ARN of an SQS queue; one looks like arn:aws:sqs:") as raised:
        queue_from_arn(arn)

    assert str(raised.value).startswith(repr(arn))


@pytest.mark.parametrize(
    ("name", "queue"),
    [
        ("error", Queue("eu-west-1", "123456789012", "error")),
        ("error.fifo", Queue("eu-west-1", "123456789012", "error.fifo")),
        ("arn:aws:sqs:us-east-2:42:error", Queue("us-east-2", "42", "error")),
        (f"{AWS}/42/error", Queue("eu-west-1", "42", "error", f"{AWS}/42/error")),
        (f"{AWS}/42/error/", Queue("eu-west-1", "42", "error", f"{AWS}/42/error/")),
        (
            "https://sqs.cn-north-1.amazonaws.com.cn/42/error",
            Queue("cn-north-1", "42", "error", "https://sqs.cn-north-1.amazonaws.com.cn/42/error"),
        ),
        (f"{LOCAL}/42/error.fifo", Queue("eu-west-1", "42", "error.fifo", f"{LOCAL}/42/error.fifo")),
        (
            "http://sqs.localhost.test:1/42/error",
            Queue("eu-west-1", "42", "error", "http://sqs.localhost.test:1/42/error"),
        ),
    ],
)
def test_an_error_queue_can_be_a_neighbour_s_name_an_arn_or_a_url(name: str, queue: Queue) -> None:
    assert destination(name, SOURCE) == queue


@pytest.mark.parametrize(
    ("host", "region"),
    [
        ("sqs.us-gov-west-1.amazonaws.com", "us-gov-west-1"),
        ("sqs.us-east-2.api.aws", "us-east-2"),
        ("sqs-fips.us-east-2.amazonaws.com", "us-east-2"),
        ("sqs-fips.us-east-2.api.aws", "us-east-2"),
        ("us-east-2.queue.amazonaws.com", "us-east-2"),
        ("queue.amazonaws.com", "us-east-1"),
        ("cn-north-1.queue.amazonaws.com.cn", "cn-north-1"),
        ("sqs.cn-north-1.api.amazonwebservices.com.cn", "cn-north-1"),
        ("sqs.eusc-de-east-1.amazonaws.eu", "eusc-de-east-1"),
        ("vpce-0a1b2c3d-4e5f.sqs.us-east-2.vpce.amazonaws.com", "us-east-2"),
        ("vpce-0a1b2c3d-4e5f-us-east-2a.sqs.us-east-2.vpce.amazonaws.com:443", "us-east-2"),
        ("127.0.0.1:4566", "eu-west-1"),
        ("sqs.us-east-2.localhost.localstack.cloud:4566", "eu-west-1"),
        ("us-east-2.example.com", "eu-west-1"),
    ],
)
def test_the_host_of_a_url_says_the_region(host: str, region: str) -> None:
    assert destination(f"https://{host}/42/error", SOURCE) == Queue(region, "42", "error", f"https://{host}/42/error")


NAMES = ["my error queue!", "errors?", "fehler-übrig", "error.fifo.fifo", ".fifo", "x" * 81, "a.b", "-\n"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_no_queue_can_have_is_refused_when_the_endpoint_is_made(name: str) -> None:
    with pytest.raises(
        ValueError, match=r"^SqsEndpoint: Failed\(error_queue\) is .*; write a queue's name of up to 80"
    ):
        SqsEndpoint(print, Recoverability(failed=Failed(name)))


@pytest.mark.parametrize("name", ["error", "1-error_2", "error.fifo", "x" * 80, SOURCE_ARN, f"{AWS}/42/error"])
def test_a_name_an_arn_and_a_url_are_taken(name: str) -> None:
    assert SqsEndpoint(print, Recoverability(failed=Failed(name))).recoverability.failed.error_queue == name


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("orders", True),
        (SOURCE_ARN, True),
        (f"{AWS}/123456789012/orders", True),
        ("https://eu-west-1.queue.amazonaws.com/123456789012/orders", True),
        ("error", False),
        ("Orders", False),
        (SOURCE_ARN.replace("eu-west-1", "us-east-2"), False),
        (f"{AWS}/42/orders", False),
        ("arn:aws:sns:eu-west-1:123456789012:orders", False),
    ],
)
def test_the_source_queue_is_recognized_however_a_policy_names_it(name: str, *, same: bool) -> None:
    delivery = Delivery(Message("", native={"eventSourceARN": SOURCE_ARN}))

    assert names_source(name, delivery.native["eventSourceARN"]) is same


@pytest.mark.parametrize(
    ("queue", "endpoint", "url"),
    [
        (SOURCE, AWS, f"{AWS}/123456789012/orders"),
        (SOURCE, f"{LOCAL}/", f"{LOCAL}/123456789012/orders"),
        (destination(f"{AWS}/42/error", SOURCE), LOCAL, f"{AWS}/42/error"),
    ],
)
def test_the_url_is_the_one_given_or_made_of_the_client_s_endpoint(queue: Queue, endpoint: str, url: str) -> None:
    assert queue.url_at(endpoint) == url


@pytest.mark.parametrize(("name", "fifo"), [("orders", False), ("orders.fifo", True), ("fifo", False)])
def test_a_fifo_queue_is_recognized_by_the_end_of_its_name(*, name: str, fifo: bool) -> None:
    assert Queue("eu-west-1", "1", name).fifo is fifo
