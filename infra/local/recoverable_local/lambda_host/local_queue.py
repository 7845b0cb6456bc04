"""A queue as a person at the keyboard or a test sees it: send to it, look into it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from recoverable_local.lambda_host.services.sqs import Sqs

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageTypeDef

AttributeValue = str | int | float | bytes

_LOOKING = timedelta(seconds=30)  # nothing else receives a message while it is looked at


@dataclass(frozen=True, slots=True)
class Depth:
    """How many messages a queue holds, as the broker counts them."""

    visible: int
    in_flight: int
    delayed: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.visible + self.in_flight + self.delayed


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A message found in a queue.

    Args:
        id: The broker's.
        body: Its text.
        attributes: The user's attributes, numbers as text.
        system: The broker's, such as `ApproximateReceiveCount`.
    """

    id: str
    body: str
    attributes: Mapping[str, str | bytes]
    system: Mapping[str, str]

    def json(self) -> Any:
        """The body, read as JSON."""
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
        """Send one message; gives the id that the broker has given it.

        Args:
            body: Text as it is; anything else as JSON.
            attributes: The user's attributes; text, numbers and bytes.
            delay: How long it stays hidden, up to 15 minutes, in whole seconds.
            group_id: Its message group; FIFO queues need one.
            deduplication_id: What a FIFO queue tells duplicates by.
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
        """The messages that are visible now, which stay where they are.

        Looking is receiving: each look counts as a delivery of every message, hides them for a moment, and of a FIFO queue shows no
        more than ten of a group.
        """
        seen: list[MessageTypeDef] = []
        while found := self.sqs.receive(self.url, most=10, wait=0, visibility=_LOOKING):
            seen.extend(found)
        self.sqs.show_again(self.url, [message["ReceiptHandle"] for message in seen])
        return [_queued(message) for message in seen]

    def depth(self) -> Depth:
        """How many messages it holds; this neither counts as a delivery nor hides any.

        An empty queue is looked at twice: a broker counts one state after the other, and overlooks a message that changes its
        own meanwhile, as one whose delay ends.
        """
        first = self._counted()
        return first if first.total else self._counted()

    def _counted(self) -> Depth:
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


def _queued(message: MessageTypeDef) -> QueuedMessage:
    given = message.get("MessageAttributes", {})
    return QueuedMessage(
        id=message["MessageId"],
        body=message["Body"],
        attributes={name: value.get("BinaryValue") or value.get("StringValue", "") for name, value in given.items()},
        system={str(name): value for name, value in message.get("Attributes", {}).items()},
    )
