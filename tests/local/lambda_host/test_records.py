"""Test the conversion of a message into a record, and of a batch into events within the size limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from recoverable_local.lambda_host.records import split, to_event, to_record

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageTypeDef

ARN = "arn:aws:sqs:eu-west-1:42:orders"


def message(**changes: Any) -> MessageTypeDef:
    """Build a message as ReceiveMessage returns it."""
    fields: Any = {
        "MessageId": "m1",
        "ReceiptHandle": "handle",
        "Body": "{}",
        "MD5OfBody": "99914b932bd37a50b983c5e7c90ae93b",
        "Attributes": {"ApproximateReceiveCount": "2", "MessageGroupId": "blue"},
        **changes,
    }
    return fields  # type: ignore[no-any-return]


def test_a_message_becomes_a_record_of_the_event() -> None:
    attributes = {
        "tenant": {"DataType": "String.code", "StringValue": "blue"},
        "picture": {"DataType": "Binary", "BinaryValue": b"\x00\xff"},
    }

    record = to_record(message(MessageAttributes=attributes, MD5OfMessageAttributes="digest"), queue_arn=ARN)

    lists: dict[str, list[str]] = {"stringListValues": [], "binaryListValues": []}
    assert record == {
        "messageId": "m1",
        "receiptHandle": "handle",
        "body": "{}",
        "attributes": {"ApproximateReceiveCount": "2", "MessageGroupId": "blue"},
        "messageAttributes": {
            "tenant": {"stringValue": "blue", **lists, "dataType": "String.code"},
            "picture": {"binaryValue": "AP8=", **lists, "dataType": "Binary"},
        },
        "md5OfBody": "99914b932bd37a50b983c5e7c90ae93b",
        "md5OfMessageAttributes": "digest",
        "eventSource": "aws:sqs",
        "eventSourceARN": ARN,
        "awsRegion": "eu-west-1",
    }


def test_a_message_without_attributes_has_no_digest_of_them() -> None:
    record = to_record(message(), queue_arn=ARN)

    assert record["messageAttributes"] == {}
    assert "md5OfMessageAttributes" not in record


@pytest.mark.parametrize(
    ("sizes", "limit", "batches"),
    [
        ([], 100, []),
        ([10, 10], 100, [[10, 10]]),
        ([40, 40, 40], 150, [[40, 40], [40]]),
        ([90, 5, 5], 130, [[90], [5, 5]]),
        ([500, 1], 100, [[500], [1]]),
    ],
)
def test_a_batch_is_divided_in_its_order_at_the_limit(sizes: list[int], limit: int, batches: list[list[int]]) -> None:
    divided = split([{"body": "x" * size} for size in sizes], limit=limit)

    assert [[len(record["body"]) for record in batch] for batch in divided] == batches


def test_no_event_is_larger_than_the_limit_that_it_was_divided_at() -> None:
    divided = split([{"body": "ü" * size} for size in range(60)], limit=300)

    assert max(len(to_event(batch)) for batch in divided) <= 300
