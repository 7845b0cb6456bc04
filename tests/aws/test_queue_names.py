"""Queues by name, ARN and URL: who is meant, and under which URL a client reaches them; without a look-up call."""

from __future__ import annotations

import pytest

from recoverable.aws.copies import destination
from recoverable.aws.queues import Queue, queue_from_arn

SOURCE = Queue("eu-west-1", "123456789012", "orders")
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
