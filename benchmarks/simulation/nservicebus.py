"""NServiceBus's Lambda host, as its source has it (NServiceBus.AwsLambda.Sqs 5c6c9bf), in as many lines as the comparison needs."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from recoverable.hosting import current_environment
from simulation.meter import CALL_TIME, Handler
from simulation.work import ATTEMPT_TIME, Work

HEADERS = "NServiceBus.AmazonSQS.Headers"
RETRIES = "NServiceBus.Retries"
IMMEDIATE, DELAYED, INCREASE = 5, 3, 10


def nservicebus(work: Work, client: Any) -> Handler:
    """Return a handler that takes all records of a batch at once, retries in a loop, sends a copy for a delayed retry, and deletes each record by itself."""
    host = Host(work, client)

    async def together(records: list[dict[str, Any]]) -> None:
        await asyncio.gather(*(host.process(record) for record in records))

    def handler(event: dict[str, Any], _context: Any) -> None:
        world = current_environment.get()
        assert world is not None
        assert world.runner is not None
        world.runner().run(together(event["Records"]))

    return handler


class Host:
    """Processes records.

    Args:
        work: what is done with each.
        client: talks to SQS.
    """

    def __init__(self, work: Work, client: Any) -> None:
        self._work, self._client = work, client

    async def process(self, record: dict[str, Any]) -> None:
        """Try the record at once up to six times, forward a copy if that did not help, and delete it."""
        error = await self._tried(record["body"])
        queue = record["eventSourceARN"].rpartition(":")[2]
        if error is not None:
            await self._forward(record, queue, error)
        await self._called("delete_message", QueueUrl=queue, ReceiptHandle=record["receiptHandle"])

    async def _tried(self, body: str) -> Exception | None:
        error: Exception | None = None
        for _ in range(IMMEDIATE + 1):
            await asyncio.sleep(ATTEMPT_TIME)
            try:
                self._work.attempt(body)
            except Exception as failed:  # noqa: BLE001  # the next turn tries again, and the last one's goes with the copy
                error = failed
            else:
                return None
        return error

    async def _forward(self, record: dict[str, Any], queue: str, error: Exception) -> None:
        headers = json.loads(record["messageAttributes"].get(HEADERS, {}).get("stringValue", "{}"))
        retries = int(headers.get(RETRIES, 0))
        later = retries < DELAYED
        new = {RETRIES: str(retries + 1)} if later else {"NServiceBus.ExceptionInfo.Message": str(error)}
        await self._called(
            "send_message",
            QueueUrl=queue if later else f"{queue}-error",
            MessageBody=record["body"],
            MessageAttributes={HEADERS: {"DataType": "String", "StringValue": json.dumps(headers | new)}},
            DelaySeconds=INCREASE * (retries + 1) if later else 0,
        )

    async def _called(self, operation: str, **request: Any) -> None:
        await asyncio.sleep(CALL_TIME)
        getattr(self._client, operation)(**request)
