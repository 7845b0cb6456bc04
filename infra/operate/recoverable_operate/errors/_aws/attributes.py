"""Ask SQS about the error queue: its attributes, and the queues that have it for their dead letters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recoverable._frozen import Frozen
from recoverable_operate.errors._aws.answers import call_error
from recoverable_operate.errors._aws.messages import arn_of

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


class Attributes(Frozen):
    """The attributes of the error queue.

    Args:
        arn: its ARN.
        depth: about how many messages it holds, hidden and delayed ones included.
        max_receives: after how many receives it dead-letters a message itself; None when it never does.
    """

    arn: str
    depth: int
    max_receives: int | None

    @property
    def fifo(self) -> bool:
        """True if the queue keeps the order of its groups."""
        return self.arn.endswith(".fifo")


def read_attributes(client: SQSClient, url: str) -> Attributes:
    """Return the attributes of a queue (GetQueueAttributes).

    Raises:
        OperateError: it cannot be asked.
    """
    with call_error(url):
        found: Any = client.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    policy = json.loads(found.get("RedrivePolicy") or "{}")
    return Attributes(
        found["QueueArn"],
        sum(int(found.get(f"ApproximateNumberOfMessages{each}", 0)) for each in ("", "NotVisible", "Delayed")),
        int(policy["maxReceiveCount"]) if "maxReceiveCount" in policy else None,
    )


def read_sources(client: SQSClient, url: str, arn: str) -> list[str]:
    """Return the ARNs of the queues whose dead-letter target this one is (ListDeadLetterSourceQueues).

    Raises:
        OperateError: it cannot be asked.
    """
    urls: list[str] = []
    more: dict[str, Any] = {}
    with call_error(url):
        while True:
            answer: Any = client.list_dead_letter_source_queues(QueueUrl=url, **more)
            urls += answer.get("queueUrls", [])
            if not (token := answer.get("NextToken")):
                return sorted(arn_of(each, arn) for each in urls)
            more = {"NextToken": token, "MaxResults": 1000}
