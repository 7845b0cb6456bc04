"""A counter in each instance's memory, as a contrast: the mistake that would make attempts grow with instances."""

from __future__ import annotations

from collections import Counter
from typing import Any

from simulation.meter import Handler
from simulation.work import Work

ATTEMPTS = 6


def in_memory(work: Work, client: Any) -> Handler:
    """Return a handler; each instance gives a message up when the message has failed six times there."""
    seen: Counter[tuple[str, str]] = Counter()  # by instance and message, for all instances share this process

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        again = []
        for record in event["Records"]:
            try:
                work.do(record["body"])
            except Exception:  # noqa: BLE001  # it is redelivered at once, or given up
                seen[context.log_stream_name, record["messageId"]] += 1
                if seen[context.log_stream_name, record["messageId"]] < ATTEMPTS:
                    again.append(record)
        for record in again:
            client.change_message_visibility(
                QueueUrl=record["eventSourceARN"].rpartition(":")[2],
                ReceiptHandle=record["receiptHandle"],
                VisibilityTimeout=0,
            )
        return {"batchItemFailures": [{"itemIdentifier": record["messageId"]} for record in again]}

    return handler
