"""Builders of Lambda's SQS event, as AWS documents it."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from recoverable import Recoverability
from recoverable._ladder.delivery import Delivery, delivery_of
from recoverable._ladder.settlement import Platform
from recoverable._sqs.queues import Queue
from recoverable.aws._records import messages_of
from servers.moto import ACCOUNT, REGION
from servers.queues import HEADERS

ARN = f"arn:aws:sqs:{REGION}:{ACCOUNT}:orders"
Record = dict[str, Any]


def text(value: str, kind: str = "String") -> Record:
    """Return a text or number attribute of a record."""
    return {"stringValue": value, "stringListValues": [], "binaryListValues": [], "dataType": kind}


def binary(value: bytes, kind: str = "Binary") -> Record:
    """Return a binary attribute of a record."""
    return {"binaryValue": b64encode(value).decode(), "stringListValues": [], "binaryListValues": [], "dataType": kind}


def record(
    body: str = "hello",
    *,
    message_id: str = "native-1",
    deliveries: int = 1,
    group: str | None = None,
    attributes: Mapping[str, Record] | None = None,
    headers: Mapping[str, object] | None = None,
    arn: str = ARN,
    system: Mapping[str, str] | None = None,
) -> Record:
    """Return one record; `headers` go into the one attribute that carries them, `system` are further attributes of SQS's own."""
    ours = {} if headers is None else {HEADERS: text(json.dumps(headers))}
    counted = {"ApproximateReceiveCount": str(deliveries), "SentTimestamp": "1700000000000", **(system or {})}
    return {
        "messageId": message_id,
        "receiptHandle": f"handle-of-{message_id}",
        "body": body,
        "attributes": counted | ({"MessageGroupId": group} if group else {}),
        "messageAttributes": {**(attributes or {}), **ours},
        "md5OfBody": "",
        "eventSource": "aws:sqs",
        "eventSourceARN": arn,
        "awsRegion": REGION,
    }


def event(*records: Record) -> dict[str, Any]:
    """Return what an event source mapping sends."""
    return {"Records": list(records)}


def received(message: Any, arn: str) -> Record:
    """Return a message that a receive call gave, as the event source mapping passes it on."""
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message["Attributes"],
        "messageAttributes": {
            name: received_attribute(value) for name, value in message.get("MessageAttributes", {}).items()
        },
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": arn,
        "awsRegion": REGION,
    }


def received_attribute(value: Any) -> Record:
    """Return an attribute as Lambda writes it: binary values in base64."""
    kind = value["DataType"]
    return binary(value["BinaryValue"], kind) if "BinaryValue" in value else text(value["StringValue"], kind)


def delivered(one: Record, queue: Queue, recoverability: Recoverability, platform: Platform) -> Delivery:
    """Return the delivery that a record is."""
    (message,), _ = messages_of([one], queue, recoverability, platform)
    return delivery_of(message)
