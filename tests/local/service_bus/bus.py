"""Use a namespace through the real SDK's client, with the calls that most tests make."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

from azure.servicebus import (
    ServiceBusClient,
    ServiceBusMessage,
    ServiceBusReceivedMessage,
    ServiceBusReceiver,
    ServiceBusSender,
)

from deadlines import DEADLINE
from recoverable_local.service_bus import Queue, SeenMessage, ServiceBusNamespace

PATIENCE = DEADLINE
RENEWED_SOON = timedelta(seconds=11)
"""A lock that the SDK's renewer renews after a second, for it does so when ten are left."""

SOON = 0.3  # seconds in which what is there already arrives


class Bus:
    """A namespace with a client of the real SDK. Senders and receivers are opened once for each queue."""

    def __init__(self, namespace: ServiceBusNamespace, running: ExitStack) -> None:
        self.namespace = namespace
        self._running = running
        self.client = running.enter_context(client_of(namespace))
        self._senders: dict[str, ServiceBusSender] = {}
        self._receivers: dict[str, ServiceBusReceiver] = {}

    def sender(self, queue: str = "orders") -> ServiceBusSender:
        if queue not in self._senders:
            self._senders[queue] = self.client.get_queue_sender(queue)
        return self._senders[queue]

    def receiver(self, queue: str = "orders", **options: Any) -> ServiceBusReceiver:
        """Return the queue's receiver; with options, open a new one."""
        if options:
            return self.client.get_queue_receiver(queue, **options)
        if queue not in self._receivers:
            self._receivers[queue] = self._running.enter_context(self.client.get_queue_receiver(queue))
        return self._receivers[queue]

    def send(self, *bodies: str, queue: str = "orders", **fields: Any) -> None:
        self.sender(queue).send_messages([ServiceBusMessage(body, **fields) for body in bodies])

    def receive(self, queue: str = "orders", **options: Any) -> ServiceBusReceivedMessage:
        """Receive the next message."""
        (message,) = self.receiver(queue, **options).receive_messages(1, max_wait_time=PATIENCE)
        return message

    def pass_time(self, by: timedelta) -> None:
        """Let so much time pass that links end, and open others where they are used next."""
        self.namespace.advance(by)
        self._senders.clear()
        self._receivers.clear()

    def nothing_comes(self, queue: str = "orders") -> bool:
        return self.receiver(queue).receive_messages(1, max_wait_time=SOON) == []


def several(receiver: ServiceBusReceiver, most: int) -> list[ServiceBusReceivedMessage]:
    """So many messages, however many of them one receive brings: the SDK waits a moment only for those after the first."""
    came: list[ServiceBusReceivedMessage] = []
    while len(came) < most and (more := receiver.receive_messages(most - len(came), max_wait_time=PATIENCE)):
        came += more
    return came


def client_of(namespace: ServiceBusNamespace, *, retries: int = 0) -> ServiceBusClient:
    """Create a client with this many retries; none by default, so that a test gets the broker's first answer."""
    return ServiceBusClient.from_connection_string(
        namespace.connection_string, retry_total=retries, retry_backoff_factor=0.05
    )


def text(message: ServiceBusReceivedMessage) -> str:
    return str(message)


def properties(message: ServiceBusReceivedMessage) -> dict[str, Any]:
    """Return a message's application properties, decoded."""
    return {_text(name): _text(value) for name, value in (message.application_properties or {}).items()}


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def orders(**settings: Any) -> Queue:
    """Build the queue of most tests."""
    return Queue("orders", **settings)


def bodies(seen: Iterable[SeenMessage]) -> list[str]:
    """Return the bodies of messages."""
    return [message.body.decode() for message in seen]
