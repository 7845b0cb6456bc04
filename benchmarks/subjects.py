"""The two that are compared: a handler that reads the id, and the JSON body where it is told to, under our endpoint and under Powertools' batch processor."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recoverable import Recoverability

Handler = Callable[[dict[str, Any], Any], Any]


class Context:
    """Lambda's context, as far as a batch needs it."""

    def get_remaining_time_in_millis(self) -> int:
        """Return 30 seconds."""
        return 30_000


def lambda_context() -> Any:
    """Return the context that Lambda's own runtime client makes, hours before its end: a slow tool must not come near it."""
    from awslambdaric.lambda_context import LambdaContext

    return LambdaContext("4f1c6b1e", None, None, int((time.time() + 10 * 3_600) * 1_000), "arn:aws:lambda:eu-central-1")


def event(size: int, *, attribute: bool = False) -> dict[str, Any]:
    """Return a batch of good records, as Lambda sends them; each with an attribute of its sender, if one is asked for."""
    attributes = {"traceparent": ATTRIBUTE} if attribute else {}
    return {"Records": [{**record(number), "messageAttributes": attributes} for number in range(size)]}


ATTRIBUTE = {
    "dataType": "String",
    "stringValue": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "stringListValues": [],
    "binaryListValues": [],
}


def record(number: int) -> dict[str, Any]:
    """Return one good record."""
    return {
        "messageId": f"059f36b4-87a3-44ab-83d2-{number:012}",
        "receiptHandle": "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a" * 4,
        "body": json.dumps({"id": number, "card": "visa", "lines": [{"sku": "A-1", "count": 2}]}),
        "attributes": {
            "ApproximateReceiveCount": "1",
            "SentTimestamp": "1763733600000",
            "SenderId": "AIDAIENQZJOLO23YVJ4VO",
            "ApproximateFirstReceiveTimestamp": "1763733600001",
        },
        "messageAttributes": {},
        "md5OfBody": "e4e68fb7bd0e697a0ae8f1bb342846b3",
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:eu-central-1:123456789012:orders",
        "awsRegion": "eu-central-1",
    }


def bare() -> Handler:
    """Return the loop that both have to run."""

    def handler(batch: dict[str, Any], _context: Any) -> None:
        for item in batch["Records"]:
            item["messageId"]
            json.loads(item["body"])

    return handler


def ours(*, parses: bool = True) -> Handler:
    """Return our endpoint."""
    from recoverable import Recoverability

    return endpoint(Recoverability(), parses=parses)


def limited() -> Handler:
    """Return our endpoint with a rate limit, whose circuit is closed: nothing fails."""
    from recoverable import RateLimit, Recoverability
    from recoverable.circuits import DynamoDbCircuit

    return endpoint(Recoverability(rate_limit=RateLimit(20, store=DynamoDbCircuit("circuits", "orders"))))


def endpoint(recoverability: Recoverability, *, parses: bool = True) -> Handler:
    """Return our endpoint with these settings; its handler parses the body, or reads the id alone."""
    from recoverable import Message
    from recoverable.aws import SqsEndpoint

    def place(message: Message) -> None:
        message.id  # noqa: B018  # reading it is what is measured
        if parses:
            message.json()

    return SqsEndpoint(place, recoverability)


def theirs(*, parses: bool = True) -> Handler:
    """Return Powertools' batch processor."""
    from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

    processor = BatchProcessor(event_type=EventType.SQS)

    def place(record: SQSRecord) -> None:
        record.message_id  # noqa: B018  # reading it is what is measured
        if parses:
            record.json_body  # noqa: B018

    return lambda batch, context: process_partial_response(batch, place, processor, context)


SUBJECTS: dict[str, Callable[[], Handler]] = {"bare": bare, "ours": ours, "limited": limited, "theirs": theirs}
