"""Turn the fuzzer's bytes into events whose sender-written parts are all drawn from them."""

from __future__ import annotations

import json
import re
from typing import Any

from recoverable._sqs.wire import HEADERS, TEXT
from recoverable.headers import FOLDED

Json = Any
Record = dict[str, Any]

ARN = "arn:aws:sqs:eu-central-1:123456789012:jobs"
KEYS = (
    "NServiceBus.MessageId", "NServiceBus.Retries", "NServiceBus.FLRetries", "NServiceBus.Retries.Timestamp",
    "NServiceBus.TimeSent", "NServiceBus.ControlMessage", "NServiceBus.EnclosedMessageTypes", "NServiceBus.FailedQ",
    "Recoverable.DueAt", "Recoverable.HeldSince", "Recoverable.FirstDelayedRetry", FOLDED, HEADERS,
    "S3BodyKey", "ExtendedPayloadSize", "SQSLargePayloadSize", "Body", "Headers", "dataType", "stringValue", "binaryValue", "String", "Number", "Binary",
    "2026-01-01 00:00:00:000000 Z", "9999-12-31 23:59:59:999999 Z", "10000", "-1", "empty message", "eA==",
)  # fmt: skip


class Source:
    """Draws values from an input's bytes.

    Args:
        provider: gives them, as atheris's FuzzedDataProvider does.
    """

    def __init__(self, provider: Any) -> None:
        self._bytes = provider

    def chance(self) -> bool:
        """Draw True or False."""
        return bool(self._bytes.ConsumeBool())

    def number(self, most: int) -> int:
        """Draw a number from 0 to the maximum."""
        return int(self._bytes.ConsumeIntInRange(0, most))

    def text(self) -> str:
        """Draw one of our own keys, or any text; it is for JSON, which can hold any character."""
        if self.chance():
            return KEYS[self.number(len(KEYS) - 1)]
        return str(self._bytes.ConsumeUnicode(self.number(12)))

    def sendable(self) -> str:
        """Draw a text that SQS accepts."""
        return "".join(re.findall(TEXT, self.text())) or "x"

    def json(self, deep: int = 0) -> Json:
        """Draw any JSON value."""
        match self.number(7 if deep < 4 else 4):
            case 0:
                return None
            case 1:
                return self.number(20_000) - 5_000
            case 2 | 3 | 4:
                return self.text()
            case 5:
                return [self.json(deep + 1) for _ in range(self.number(3))]
            case 6:
                return {self.text(): self.json(deep + 1) for _ in range(self.number(4))}
            case _:
                return json.dumps({self.text(): self.json(deep + 1) for _ in range(self.number(3))})


def headers(source: Source) -> Json:
    """Draw headers; one may claim to be folded attributes."""
    written = {source.text(): source.json(2) for _ in range(source.number(5))}
    if source.chance():
        written[FOLDED] = json.dumps({source.text(): folded(source) for _ in range(source.number(2))})
    return written


def folded(source: Source) -> Json:
    """Draw a value that looks like an attribute."""
    kind = ("String", "Number", "Binary", source.text())[source.number(3)]
    return {"dataType": kind, "stringValue": source.text(), "binaryValue": source.text()}


def body(source: Source) -> str:
    """Draw a body: a text, JSON, or a wrapper."""
    match source.number(2):
        case 0:
            return source.sendable()
        case 1:
            return json.dumps(source.json())
        case _:
            return json.dumps({"Headers": headers(source), "Body": source.json(3), source.text(): source.json(3)})


def attribute(source: Source) -> Record:
    """Draw an attribute that SQS accepts."""
    if source.chance():
        return {"dataType": "String", "stringValue": source.sendable()}
    return {"dataType": "Binary", "binaryValue": "eA=="}


def record(source: Source, number: int, arn: str) -> Record:
    """Draw a record; all that a sender can write comes from the input."""
    attributes = {f"a{n}": attribute(source) for n in range(source.number(10))}
    if source.chance():
        attributes[HEADERS] = {"dataType": "String", "stringValue": json.dumps(headers(source))}
    elif source.chance():
        attributes[HEADERS] = {"dataType": "String", "stringValue": source.sendable()}
    system = {"ApproximateReceiveCount": str(source.number(12)), "SentTimestamp": "1700000000000"}
    return {
        "messageId": f"id-{number}",
        "receiptHandle": f"receipt-{number}",
        "body": body(source),
        "attributes": system,
        "messageAttributes": attributes,
        "eventSourceARN": arn,
    }


def records(source: Source) -> list[Record]:
    """Draw a batch of one to three records."""
    arn = ARN + ("" if source.number(9) else ".fifo")
    return [record(source, number, arn) for number in range(1 + source.number(2))]
