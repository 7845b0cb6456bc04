"""Make all calls of the host to SQS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from recoverable_local.lambda_host.services.clients import config, session

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import MessageTypeDef

_CONNECTIONS = 50  # each mapping uses one all the time for its long poll
_BATCH = 10  # entries; SQS API


class Sqs:
    """A client of one endpoint, safe to share between threads.

    Args:
        endpoint_url: Where SQS is served.
        region: The AWS region in ARNs and signatures.
    """

    def __init__(self, endpoint_url: str, *, region: str) -> None:
        self.endpoint_url = endpoint_url
        self._client: SQSClient = session(region).client("sqs", endpoint_url=endpoint_url, config=config(_CONNECTIONS))

    @property
    def client(self) -> SQSClient:
        """Return boto3's client: it makes the calls that this class does not have."""
        return self._client

    def create(self, name: str, *, fifo: bool, attributes: Mapping[str, str]) -> tuple[str, str]:
        """Create a queue, or set these attributes on the existing one. Return its URL and its ARN."""
        kind: dict[Any, str] = {"FifoQueue": "true"} if fifo else {}
        url = self._client.create_queue(QueueName=name, Attributes=kind)["QueueUrl"]
        self.set_attributes(url, attributes)
        return url, self.attributes(url, "QueueArn")["QueueArn"]

    def find(self, name: str) -> tuple[str, str] | None:
        """Return the URL and the ARN of a queue; None if no queue has this name."""
        try:
            url = self._client.get_queue_url(QueueName=name)["QueueUrl"]
        except self._client.exceptions.QueueDoesNotExist:
            return None
        return url, self.attributes(url, "QueueArn")["QueueArn"]

    def set_attributes(self, url: str, attributes: Mapping[str, str]) -> None:
        """Set attributes of a queue."""
        if attributes:
            self._client.set_queue_attributes(QueueUrl=url, Attributes=dict(attributes))  # type: ignore[arg-type]

    def attributes(self, url: str, *names: str) -> dict[str, str]:
        """Return attributes of a queue."""
        answer = self._client.get_queue_attributes(QueueUrl=url, AttributeNames=list(names))  # type: ignore[arg-type]
        return {str(name): value for name, value in answer["Attributes"].items()}

    def delete_queue(self, url: str) -> None:
        """Delete a queue with all its messages."""
        self._client.delete_queue(QueueUrl=url)

    def receive(
        self, url: str, *, max_messages: int, wait: int, visibility: timedelta | None = None
    ) -> Sequence[MessageTypeDef]:
        """Receive up to ten messages with all their attributes.

        Args:
            url: The queue's URL.
            max_messages: The most messages to receive; more than ten means ten.
            wait: Seconds to wait for the first message.
            visibility: How long they are hidden; None for the queue's own setting.
        """
        hidden: dict[str, Any] = {} if visibility is None else {"VisibilityTimeout": int(visibility.total_seconds())}
        answer = self._client.receive_message(
            QueueUrl=url,
            MaxNumberOfMessages=min(max_messages, _BATCH),
            WaitTimeSeconds=wait,
            AttributeNames=["All"],
            MessageAttributeNames=["All"],
            **hidden,
        )
        return answer.get("Messages", [])

    def delete(self, url: str, handles: Sequence[str]) -> list[str]:
        """Delete messages by their receipt handles. Return the broker's error for each message that it did not delete."""
        calls = (self._client.delete_message_batch(QueueUrl=url, Entries=entries) for entries in _batches(handles))
        refused = [entry for answer in calls for entry in answer.get("Failed", [])]
        return [f"{entry['Code']}: {entry.get('Message', '')}" for entry in refused]

    def make_visible(self, url: str, handles: Sequence[str], after: timedelta = timedelta(0)) -> None:
        """Have received messages come back after a time of whole seconds, and at once without one."""
        for entries in _batches(handles, VisibilityTimeout=int(after.total_seconds())):
            self._client.change_message_visibility_batch(QueueUrl=url, Entries=entries)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def send(self, url: str, **message: Any) -> str:
        """Send one message, with the parameters of the SQS API. Return its id."""
        return self._client.send_message(QueueUrl=url, **message)["MessageId"]


def _batches(handles: Sequence[str], **fields: Any) -> Iterator[list[Any]]:
    """Yield the entries of each batch call, ten at a time."""
    for start in range(0, len(handles), _BATCH):
        batch = enumerate(handles[start : start + _BATCH])
        yield [{"Id": str(number), "ReceiptHandle": handle, **fields} for number, handle in batch]
