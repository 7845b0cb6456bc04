"""Send failed messages to a queue of the local SQS, and name it as where dead letters go."""

from __future__ import annotations

import json
from typing import Any

from operate.failing import fault_headers
from servers.queues import HEADERS, Queue


def send_failed(error: Queue, body: str = '{"id": 1}', *, headers: dict[str, str] | None = None, **more: Any) -> str:
    """Send a failed message to the error queue; gives the broker's id."""
    ours = {HEADERS: {"DataType": "String", "StringValue": json.dumps(headers or fault_headers())}}
    return error.send(body, attributes={**more.pop("attributes", {}), **ours}, **more)


def dead_letters_of(error: Queue, *sources: Queue, after: int = 50) -> None:
    """Have the queues send their dead letters to the error queue."""
    for source in sources:
        policy = json.dumps({"deadLetterTargetArn": error.arn, "maxReceiveCount": after})
        source.client.set_queue_attributes(QueueUrl=source.url, Attributes={"RedrivePolicy": policy})
