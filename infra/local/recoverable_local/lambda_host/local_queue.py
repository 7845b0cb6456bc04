"""Send to a queue and inspect it, by hand or in a test."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from recoverable._sqs.wire import wire_of
from recoverable_local.lambda_host.records import to_record
from recoverable_local.lambda_host.services.sqs import Sqs

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageTypeDef

AttributeValue = str | int | float | bytes

_PEEK_VISIBILITY = timedelta(seconds=30)  # hides a message from other receivers while `messages` reads the queue


@dataclass(frozen=True, slots=True)
class Depth:
    """A count of a queue's messages by state, as the broker reports it."""

    visible: int
    in_flight: int
    delayed: int

    @property
    def total(self) -> int:
        """Return the number of messages in all states."""
        return self.visible + self.in_flight + self.delayed


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A message found in a queue.

    Args:
        id: The message id that the broker assigned.
        body: The text, as its sender wrote it.
        headers: This package's headers and NServiceBus's, from where they are: the one attribute, or the wrapper that some error
            copies have.
        attributes: All attributes, numbers as text.
        system: The broker's attributes, such as `ApproximateReceiveCount`.
    """

    id: str
    body: str
    headers: Mapping[str, str]
    attributes: Mapping[str, str | bytes]
    system: Mapping[str, str]

    def json(self) -> Any:
        """Parse the body as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class LocalQueue:
    """One queue of the template on the local broker."""

    name: str
    url: str
    arn: str
    sqs: Sqs

    def send(
        self,
        body: Any,
        *,
        attributes: Mapping[str, AttributeValue] | None = None,
        delay: timedelta | None = None,
        group_id: str | None = None,
        deduplication_id: str | None = None,
    ) -> str:
        """Send one message, and return the id that the broker assigned.

        Args:
            body: A string is sent unchanged; anything else as JSON.
            attributes: The user's attributes: strings, numbers and bytes.
            delay: How long the message stays hidden; up to 15 minutes, in whole seconds.
            group_id: The message group; FIFO queues need one.
            deduplication_id: A FIFO queue drops a second message with the same one.
        """
        options: dict[str, Any] = {
            "MessageAttributes": {name: _attribute(value) for name, value in (attributes or {}).items()},
            "DelaySeconds": None if delay is None else int(delay.total_seconds()),
            "MessageGroupId": group_id,
            "MessageDeduplicationId": deduplication_id,
        }
        given = {name: value for name, value in options.items() if value is not None}
        return self.sqs.send(self.url, MessageBody=body if isinstance(body, str) else json.dumps(body), **given)

    def messages(self) -> list[QueuedMessage]:
        """Return the messages that are visible now, without removing them.

        This receives the messages and then makes them visible again. So each call counts as a delivery of every message and hides
        them for a moment, and from a FIFO queue it returns at most ten messages of a group.
        """
        received: list[MessageTypeDef] = []
        while found := self.sqs.receive(self.url, max_messages=10, wait=0, visibility=_PEEK_VISIBILITY):
            received.extend(found)
        self.sqs.make_visible(self.url, [message["ReceiptHandle"] for message in received])
        return [self._queued(message) for message in received]

    def depth(self) -> Depth:
        """Count the messages. This is no delivery and hides no message.

        When the first count is zero, count again: the broker counts one state after the other, and misses a message that changes
        its state in between, for instance when its delay ends.
        """
        first = self._count()
        return first if first.total else self._count()

    def _queued(self, message: MessageTypeDef) -> QueuedMessage:
        wire, given = wire_of(to_record(message, queue_arn=self.arn)), message.get("MessageAttributes", {})
        return QueuedMessage(
            id=message["MessageId"],
            body=wire.record["body"],
            headers=wire.headers,
            attributes={
                name: value.get("BinaryValue") or value.get("StringValue", "") for name, value in given.items()
            },
            system={str(name): value for name, value in message.get("Attributes", {}).items()},
        )

    def _count(self) -> Depth:
        names = (
            "ApproximateNumberOfMessages",
            "ApproximateNumberOfMessagesNotVisible",
            "ApproximateNumberOfMessagesDelayed",
        )
        found = self.sqs.attributes(self.url, *names)
        return Depth(*(int(found[name]) for name in names))


def _attribute(value: AttributeValue) -> dict[str, Any]:
    match value:
        case bytes():
            return {"DataType": "Binary", "BinaryValue": value}
        case str():
            return {"DataType": "String", "StringValue": value}
        case _:
            return {"DataType": "Number", "StringValue": str(value)}
