"""Convert a stored message to Lambda's record and to the attributes of ReceiveMessage."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from datetime import datetime
from hashlib import md5
from typing import Any

from recoverable_local.testing.aws.broker.queues import ACCOUNT, REGION, Settings
from recoverable_local.testing.aws.broker.stored import Attributes, Stored

Record = dict[str, Any]


def to_record(message: Stored, queue: Settings, start: datetime) -> Record:
    """Return the message as a record of Lambda's SQS event; a new one each time, because functions may change it.

    Args:
        message: the message.
        queue: where it is.
        start: when the world's time began.
    """
    record = {
        "messageId": message.id,
        "receiptHandle": message.receipt,
        "body": message.body,
        "attributes": system_attributes(message, start),
        "messageAttributes": {name: to_lambda_attribute(value) for name, value in message.attributes.items()},
        "md5OfBody": digest(message.body),
        "eventSource": "aws:sqs",
        "eventSourceARN": queue.arn,
        "awsRegion": REGION,
    }
    attributes_digest = digest_of_attributes(message.attributes)
    return record | ({"md5OfMessageAttributes": attributes_digest} if attributes_digest else {})


def system_attributes(message: Stored, start: datetime) -> dict[str, str]:
    """Return SQS's own attributes of the message, as text."""
    began = start.timestamp()
    attributes = {
        "ApproximateReceiveCount": str(message.receives),
        "SentTimestamp": milliseconds(began + message.sent_at),
        "SenderId": f"AIDA{ACCOUNT}",
        "ApproximateFirstReceiveTimestamp": milliseconds(began + message.first_received_at),
    }
    optional = {
        "MessageGroupId": message.group,
        "MessageDeduplicationId": message.deduplication,
        "SequenceNumber": message.sequence,
        "AWSTraceHeader": message.trace,
        "DeadLetterQueueSourceArn": message.source_arn,
    }
    return attributes | {name: value for name, value in optional.items() if value is not None}


def to_lambda_attribute(value: Mapping[str, Any]) -> Record:
    """Return one attribute in Lambda's spelling; the lists are always present and always empty."""
    lists: Record = {"stringListValues": [], "binaryListValues": [], "dataType": value["DataType"]}
    if "BinaryValue" in value:
        return {"binaryValue": b64encode(value["BinaryValue"]).decode(), **lists}
    return {"stringValue": value["StringValue"], **lists}


def milliseconds(moment: float) -> str:
    """Return the moment in milliseconds, as SQS writes it."""
    return str(round(moment * 1000))


def digest(text: str) -> str:
    """Return the MD5 of a text, with which clients check what arrived."""
    return md5(text.encode(), usedforsecurity=False).hexdigest()


def digest_of_attributes(attributes: Attributes) -> str | None:
    """Return the MD5 of a message's attributes; None without any (SQS Developer Guide, "Calculating the MD5 message digest for message attributes")."""
    if not attributes:
        return None
    digested = md5(usedforsecurity=False)
    for name, value in sorted(attributes.items()):
        digested.update(length_prefixed(name.encode()) + length_prefixed(value["DataType"].encode()))
        is_binary = "BinaryValue" in value
        held = value["BinaryValue"] if is_binary else value["StringValue"].encode()
        digested.update((b"\x02" if is_binary else b"\x01") + length_prefixed(held))
    return digested.hexdigest()


def length_prefixed(data: bytes) -> bytes:
    """Return the bytes with their length, four bytes, in front."""
    return len(data).to_bytes(4, "big") + data
