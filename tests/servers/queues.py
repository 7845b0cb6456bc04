"""A queue of the local SQS as tests use it: send, receive, count, and read what arrived."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from servers.moto import REGION

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

HEADERS = "NServiceBus.AmazonSQS.Headers"
WAITING = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed")

HIDDEN = {"VisibilityTimeout": "3600"}
"""Six times the ten minutes that an invocation has in most tests."""


class Arrived(NamedTuple):
    """A message as it lies in a queue."""

    body: str
    headers: dict[str, str]
    attributes: dict[str, Any]
    group: str | None
    deduplication: str | None


class Queue:
    """A queue with a unique name."""

    def __init__(self, client: SQSClient, name: str, settings: Mapping[str, str]) -> None:
        fifo = {"FifoQueue": "true"} if name.endswith(".fifo") else {}
        self.client, self.name = client, name
        self.url = client.create_queue(QueueName=name, Attributes={**fifo, **HIDDEN, **settings})["QueueUrl"]  # type: ignore[dict-item]
        self.arn = f"arn:aws:sqs:{REGION}:{self.url.split('/')[-2]}:{name}"

    def send(self, body: str = "hello", *, attributes: Mapping[str, Any] | None = None, **more: Any) -> str:
        """Send a message; gives its id."""
        answer = self.client.send_message(
            QueueUrl=self.url, MessageBody=body, MessageAttributes=dict(attributes or {}), **more
        )
        return answer["MessageId"]

    def receive(self, *, most: int = 10, visibility: int = 60) -> Sequence[Any]:
        """Receive what is visible now, up to `most` messages."""
        answer = self.client.receive_message(
            QueueUrl=self.url,
            MaxNumberOfMessages=most,
            VisibilityTimeout=visibility,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        return answer.get("Messages", [])

    def count(self) -> int:
        """Count all messages: visible, in flight and delayed.

        None is said after a second look only: the server counts one state after the other, and a message can change its own meanwhile.
        """
        return self._counted() or self._counted()

    def _counted(self) -> int:
        answer: Any = self.client.get_queue_attributes(QueueUrl=self.url, AttributeNames=["All"])
        return sum(int(answer["Attributes"][name]) for name in WAITING)

    def visible(self) -> int:
        """Count the messages that a receive would give."""
        answer: Any = self.client.get_queue_attributes(QueueUrl=self.url, AttributeNames=["All"])
        return int(answer["Attributes"][WAITING[0]])

    def arrived(self) -> list[Arrived]:
        """Take all that is visible out of the queue, and return it."""
        messages: list[Any] = []
        while more := self.receive():
            messages += more
        for message in messages:
            self.client.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
        return [arrived(message) for message in messages]


def arrived(message: Any) -> Arrived:
    """Return a message with our headers read and the user's attributes as they came, out of the wrapper that an error copy may have."""
    attributes, body = dict(message.get("MessageAttributes", {})), message["Body"]
    headers = json.loads(attributes.pop(HEADERS, {"StringValue": "{}"})["StringValue"])
    if '"Recoverable.Native"' in body:
        wrapper = json.loads(body)
        body, headers = b64decode(wrapper["Body"]).decode(), wrapper["Headers"]
    system = message["Attributes"]
    return Arrived(body, headers, attributes, system.get("MessageGroupId"), system.get("MessageDeduplicationId"))


def send(queue: Queue, *bodies: str) -> None:
    """Send messages."""
    for body in bodies:
        queue.send(body)


def bodies(queue: Queue) -> list[str]:
    """Take all that is visible out of a queue, and return the bodies in alphabetical order."""
    return sorted(message.body for message in queue.arrived())
