"""A Service Bus client that encodes each message as the real SDK does, keeps it, and refuses what a test wants refused."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from azure.servicebus import ServiceBusMessage, ServiceBusMessageBatch
from azure.servicebus.exceptions import MessageSizeExceededError, ServiceBusAuthorizationError

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusClient

NAMESPACE = "shop.servicebus.windows.net"


class RecordingClient:
    """Stands in where a broker would add nothing.

    Args:
        refuses: gives the error for a queue's next send; None takes it.
        largest: bytes of the largest message, and of the largest batch.
        without_links: the queues that refuse a new link.
    """

    def __init__(
        self,
        refuses: Callable[[str], Exception | None] = lambda queue: None,
        *,
        largest: int = 262_144,
        without_links: Collection[str] = (),
    ) -> None:
        self.fully_qualified_namespace = NAMESPACE
        self.refuses, self.largest, self.without_links = refuses, largest, without_links
        self.calls: list[tuple[str, list[ServiceBusMessage]]] = []
        self.senders: list[str] = []
        self.closed: list[str] = []

    def get_queue_sender(self, queue_name: str, *, keep_alive: float | None = None) -> RecordingSender:
        self.senders.append(queue_name)
        return RecordingSender(self, queue_name)

    @property
    def sent(self) -> list[tuple[str, ServiceBusMessage]]:
        """Return all messages that were sent, and their queues."""
        return [(queue, message) for queue, messages in self.calls for message in messages]

    def as_client(self) -> ServiceBusClient:
        """Return itself, for those who want the SDK's type."""
        return cast("ServiceBusClient", self)


class RecordingSender:
    """The sender of one queue; two threads at once are one too many."""

    def __init__(self, client: RecordingClient, queue: str) -> None:
        self._client, self.entity_name, self._in_use = client, queue, Lock()

    def close(self) -> None:
        self._client.closed.append(self.entity_name)

    def create_message_batch(self) -> ServiceBusMessageBatch:
        if self.entity_name in self._client.without_links:
            raise ServiceBusAuthorizationError(message="no role")
        return ServiceBusMessageBatch(self._client.largest)

    def send_messages(
        self, message: ServiceBusMessage | ServiceBusMessageBatch, *, timeout: float | None = None
    ) -> None:
        assert self._in_use.acquire(blocking=False), "two threads use a sender at once"
        try:
            self._send(message)
        finally:
            self._in_use.release()

    def _send(self, message: ServiceBusMessage | ServiceBusMessageBatch) -> None:
        if (refusal := self._client.refuses(self.entity_name)) is not None:
            raise refusal
        messages = list(messages_of(message))
        if isinstance(message, ServiceBusMessage) and encoded_size(message) > self._client.largest:
            raise MessageSizeExceededError(message="too large")
        if messages:
            self._client.calls.append((self.entity_name, messages))


def messages_of(message: ServiceBusMessage | ServiceBusMessageBatch) -> Iterator[ServiceBusMessage]:
    """Yield the messages of a call."""
    if isinstance(message, ServiceBusMessage):
        yield message
    else:
        yield from message._messages


def encoded_size(message: ServiceBusMessage) -> int:
    """Return the bytes on the wire, as the SDK encodes the message; what it cannot encode raises."""
    batch = ServiceBusMessageBatch(2**30)
    empty = batch.size_in_bytes
    batch.add_message(message)
    return batch.size_in_bytes - empty


def properties(message: ServiceBusMessage) -> dict[str, Any]:
    """Return the application properties."""
    return dict(cast("dict[str, Any]", message.application_properties or {}))
