"""A message as SQS hands it out → a record of the event that Lambda gives to a function. Pure."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageAttributeValueOutputTypeDef, MessageTypeDef

Record = dict[str, Any]

PAYLOAD_LIMIT = 6 * 1024 * 1024
"""Bytes of one invocation's event; Lambda quotas."""


def to_record(message: MessageTypeDef, *, queue_arn: str) -> Record:
    """Write a received message as the record of an SQS event.

    Args:
        message: As `ReceiveMessage` returns it, with all attributes asked for.
        queue_arn: The ARN of the queue it was received from.
    """
    attributes = message.get("MessageAttributes", {})
    record = {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": dict(message.get("Attributes", {})),
        "messageAttributes": {name: _attribute(value) for name, value in attributes.items()},
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn,
        "awsRegion": queue_arn.split(":")[3],
    }
    digest = message.get("MD5OfMessageAttributes")
    return record | {"md5OfMessageAttributes": digest} if digest else record


def to_event(records: Sequence[Mapping[str, Any]]) -> bytes:
    """The event of one invocation, as JSON."""
    return json.dumps({"Records": list(records)}, ensure_ascii=False).encode()


def split(records: Sequence[Record], *, limit: int = PAYLOAD_LIMIT) -> list[list[Record]]:
    """Divide a batch, in its order, into events of at most `limit` bytes; a record larger than that stands alone."""
    batches: list[list[Record]] = []
    room = 0
    for record in records:
        size = len(to_event([record]))
        if not batches or size > room:
            batches.append([])
            room = limit
        batches[-1].append(record)
        room -= size
    return batches


def size_of(records: Sequence[Record]) -> int:
    """About the bytes that these records take in an event, never fewer than they do."""
    return sum(len(to_event([record])) for record in records)


def _attribute(value: MessageAttributeValueOutputTypeDef) -> dict[str, Any]:
    """One attribute; the lists are always there and always empty, since SQS has never put anything into them."""
    record: dict[str, Any] = {"stringListValues": [], "binaryListValues": [], "dataType": value["DataType"]}
    if "BinaryValue" in value:
        return {"binaryValue": base64.b64encode(value["BinaryValue"]).decode(), **record}
    return {"stringValue": value.get("StringValue", ""), **record}
