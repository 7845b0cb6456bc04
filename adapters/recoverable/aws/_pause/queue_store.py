"""Receive and delete the messages of a paused queue, for the probe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recoverable._sqs.clients import client as process_client
from recoverable._sqs.queues import queue_from_arn

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

TIMEOUT = 6.0
"""Seconds for one call; a receive waits for one of them."""


class SqsProbeQueue:
    """The queue of a paused trigger.

    Args:
        queue_arn: the queue's ARN.
        client: a boto3 SQS client, instead of one of our own.

    Raises:
        ValueError: it is no ARN of an SQS queue.
    """

    def __init__(self, queue_arn: str, *, client: SQSClient | None = None) -> None:
        self._queue, self._client = queue_from_arn(queue_arn), client

    def receive(self) -> Any | None:
        """Return one message; None when there is none now. It waits a second, for without that SQS asks only some of its servers."""
        sqs, url = self._client_and_url()
        answer = sqs.receive_message(
            QueueUrl=url,
            MaxNumberOfMessages=1,
            WaitTimeSeconds=1,
            AttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        return next(iter(answer.get("Messages", ())), None)

    def delete(self, message: Any) -> None:
        """Delete a message that was handled."""
        sqs, url = self._client_and_url()
        sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])

    def _client_and_url(self) -> tuple[SQSClient, str]:
        sqs: SQSClient = self._client or process_client("sqs", self._queue.region, TIMEOUT)
        return sqs, self._queue.url_at(sqs.meta.endpoint_url)
