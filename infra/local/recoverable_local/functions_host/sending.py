"""Send messages to queues, by hand or in a test."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Self

from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusSender

from recoverable._service_bus.app_settings import ConnectionString, Identity
from recoverable._service_bus.clients import credential_for


class Outbox:
    """Sends to the queues of one namespace. It opens no connection before the first message.

    Args:
        connect: Returns the connection.
    """

    def __init__(self, connect: Callable[[], ConnectionString | Identity]) -> None:
        self._connect = connect
        self._client: ServiceBusClient | None = None
        self._senders: dict[str, ServiceBusSender] = {}

    def __enter__(self) -> Self:
        """Open nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the senders."""
        if self._client is not None:
            self._client.close()

    def send(self, queue: str, *bodies: object, **fields: Any) -> None:
        """Send a message for each body.

        Args:
            queue: The queue's name, or a topic's.
            bodies: Strings, bytes and `ServiceBusMessage` objects are sent unchanged; anything else as JSON.
            fields: Fields of `azure.servicebus.ServiceBusMessage`.
        """
        messages = [
            body if isinstance(body, ServiceBusMessage) else ServiceBusMessage(_data(body), **fields) for body in bodies
        ]
        self._sender(queue).send_messages(messages)

    def _sender(self, queue: str) -> ServiceBusSender:
        if self._client is None:
            self._client = _client(self._connect())
        if queue not in self._senders:
            self._senders[queue] = self._client.get_queue_sender(queue)
        return self._senders[queue]


def _client(connection: ConnectionString | Identity) -> ServiceBusClient:
    if isinstance(connection, ConnectionString):
        return ServiceBusClient.from_connection_string(connection.text)
    return ServiceBusClient(connection.namespace, credential_for(connection.settings))


def _data(body: object) -> str | bytes:
    return body if isinstance(body, str | bytes) else json.dumps(body)
