"""Convert received SQS messages into the records of a Lambda event. Pure."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recoverable._sqs.wire import wire_of
from recoverable.headers import MESSAGE_ID

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageAttributeValueOutputTypeDef, MessageTypeDef

Record = dict[str, Any]

PAYLOAD_LIMIT = 6 * 1024 * 1024
"""The largest event of one invocation, in bytes ("Lambda quotas")."""


def to_record(message: MessageTypeDef, *, queue_arn: str) -> Record:
    """Convert a received message into a record of an SQS event.

    Args:
        message: As `ReceiveMessage` returns it when all attributes are requested.
        queue_arn: The ARN of the queue that it was received from.
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


def name_of(record: Record) -> str:
    """Return a message's id as its handler knows it, which stays the same over its copies."""
    try:
        return wire_of(record).headers.get(MESSAGE_ID) or record["messageId"]
    except Exception:  # noqa: BLE001  # wire data is hostile; SQS's own id is a name too
        return str(record["messageId"])


def to_event(records: Sequence[Mapping[str, Any]]) -> bytes:
    """Encode the event of one invocation as JSON."""
    return json.dumps({"Records": list(records)}, ensure_ascii=False).encode()


def split(records: Sequence[Record], *, limit: int = PAYLOAD_LIMIT) -> list[list[Record]]:
    """Divide a batch, in its order, into events of at most `limit` bytes. A larger record gets an event of its own."""
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
    """Return an upper bound of the bytes that these records take in one event."""
    return sum(len(to_event([record])) for record in records)


def _attribute(value: MessageAttributeValueOutputTypeDef) -> dict[str, Any]:
    """Convert one attribute. The two lists are always present and always empty, because SQS has never used them."""
    record: dict[str, Any] = {"stringListValues": [], "binaryListValues": [], "dataType": value["DataType"]}
    if "BinaryValue" in value:
        return {"binaryValue": base64.b64encode(value["BinaryValue"]).decode(), **record}
    return {"stringValue": value.get("StringValue", ""), **record}
