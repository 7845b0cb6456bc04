"""Build the headers of failed messages, and send such messages to a queue of the local SQS."""

from __future__ import annotations

import json
from typing import Any

from aws.queues import HEADERS, Queue

AT = "2026-11-22 10:00:00:000000 Z"
FRAME = "   at orders.place_order() in /var/task/orders.py:line 12"


def fault_headers(queue: str = "orders", **changes: str | None) -> dict[str, str]:
    """Return the headers of a message that failed at a queue; `None` leaves one out.

    Keywords are headers by their last part: `type`, `message`, `trace`, `at`, `id`.
    """
    kind = changes.pop("type", "bank.BankUnavailable")
    headers = {
        "NServiceBus.MessageId": changes.pop("id", "order-1"),
        "NServiceBus.FailedQ": queue,
        "NServiceBus.ExceptionInfo.ExceptionType": kind,
        "NServiceBus.ExceptionInfo.Message": changes.pop("message", "no answer"),
        "NServiceBus.ExceptionInfo.StackTrace": changes.pop("trace", f"{kind}: no answer\n{FRAME}"),
        "NServiceBus.TimeOfFailure": changes.pop("at", AT),
        "NServiceBus.ProcessingEndpoint": queue,
        **changes,
    }
    return {name: text for name, text in headers.items() if text is not None}


def send_failed(error: Queue, body: str = '{"id": 1}', *, headers: dict[str, str] | None = None, **more: Any) -> str:
    """Send a failed message to the error queue; gives the broker's id."""
    ours = {HEADERS: {"DataType": "String", "StringValue": json.dumps(headers or fault_headers())}}
    return error.send(body, attributes={**more.pop("attributes", {}), **ours}, **more)


def dead_letters_of(error: Queue, *sources: Queue, after: int = 50) -> None:
    """Have the queues send their dead letters to the error queue."""
    for source in sources:
        policy = json.dumps({"deadLetterTargetArn": error.arn, "maxReceiveCount": after})
        source.client.set_queue_attributes(QueueUrl=source.url, Attributes={"RedrivePolicy": policy})
