"""A Service Bus namespace on loopback, and what the Functions host does with its messages: receive, call, complete or abandon."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import Any

from azure.servicebus import (
    NEXT_AVAILABLE_SESSION,
    ServiceBusClient,
    ServiceBusMessage,
    ServiceBusReceivedMessage,
    ServiceBusReceiver,
)
from azure.servicebus.exceptions import OperationTimeoutError

from azure.endpoints import ended
from azure.triggers import trigger_message, trigger_messages
from builders import ERROR_QUEUE, QUEUE
from deadlines import DEADLINE
from recoverable._service_bus.app_settings import ConnectionString
from recoverable._service_bus.clients import client_for
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.service_bus import Queue, SeenMessage, ServiceBusNamespace

SETTING = "ServiceBus"
SESSIONS = "orders-sessions"
BRIEF = "orders-brief"
INVOICES = "invoices"


class Bus:
    """A namespace, and a client that sends to it and receives from it beside the endpoint's own."""

    def __init__(self, namespace: ServiceBusNamespace, client: ServiceBusClient) -> None:
        self.namespace, self.client = namespace, client

    def send(self, *bodies: str, to: str = QUEUE, **fields: Any) -> None:
        """Send messages of these bodies."""
        with self.client.get_queue_sender(to) as sender:
            sender.send_messages([ServiceBusMessage(body, **fields) for body in bodies])

    def seen(self, queue: str) -> list[SeenMessage]:
        """Return what is in a queue."""
        return self.namespace.queue(queue).messages()

    def serve(
        self, endpoint: ServiceBusEndpoint[Any], until: Callable[[], object], *, batch: bool = False, **receiver: Any
    ) -> list[BaseException]:
        """Be the host until something is so; what made it abandon messages comes back."""
        why: list[BaseException] = []
        with self.client.get_queue_receiver(endpoint.queue, **receiver) as receiving:
            end = time.monotonic() + DEADLINE
            while not until():
                assert time.monotonic() < end, f"it never came to pass; abandoned: {why}"
                messages = received(receiving, 10 if batch else 1)
                if messages:
                    why += self._settled(receiving, messages, called(endpoint, messages, batch=batch))
        return why

    @staticmethod
    def _settled(
        receiver: ServiceBusReceiver, messages: list[ServiceBusReceivedMessage], error: BaseException | None
    ) -> list[BaseException]:
        settle = receiver.complete_message if error is None else receiver.abandon_message
        for message in messages:
            settle(message)
        return [] if error is None else [error]


def received(receiver: ServiceBusReceiver, most: int) -> list[ServiceBusReceivedMessage]:
    """Receive what comes soon; nothing when no session has any."""
    try:
        return receiver.receive_messages(most, max_wait_time=0.3)
    except OperationTimeoutError:
        return []


def called(
    endpoint: ServiceBusEndpoint[Any], messages: list[ServiceBusReceivedMessage], *, batch: bool
) -> BaseException | None:
    """Return how the endpoint ended for these messages as a trigger gives them."""
    given = [describe_message(message) for message in messages]
    return ended(endpoint, trigger_messages(*given) if batch else trigger_message(**given[0]))


def describe_message(message: ServiceBusReceivedMessage) -> dict[str, Any]:
    """Return the host's metadata of a message; it counts deliveries from 1 where the SDK counts failed ones."""
    return {
        "body": b"".join(message.body),
        "properties": properties_of(message),
        "ContentType": message.content_type,
        "CorrelationId": message.correlation_id,
        "DeliveryCount": (message.delivery_count or 0) + 1,
        "EnqueuedTimeUtc": message.enqueued_time_utc,
        "ExpiresAtUtc": message.expires_at_utc,
        "MessageId": message.message_id,
        "PartitionKey": message.partition_key,
        "ReplyTo": message.reply_to,
        "SequenceNumber": message.sequence_number,
        "SessionId": message.session_id,
        "Subject": message.subject,
        "To": message.to,
    }


def properties_of(message: ServiceBusReceivedMessage) -> dict[str, Any]:
    """Return the application properties as texts and numbers, which the SDK gives as bytes and numbers."""
    return {text(name): text(value) for name, value in (message.application_properties or {}).items()}


def text(value: Any) -> Any:
    """Return bytes as text."""
    return value.decode() if isinstance(value, bytes) else value


@contextmanager
def emulated() -> Iterator[Bus]:
    """Yield a namespace with a queue, one with sessions, one that gives up after two deliveries, one that handlers send to, and the error queue,
    where dead letters go.
    """
    queues = [
        Queue(QUEUE, max_delivery_count=100, forward_dead_lettered_messages_to=ERROR_QUEUE),
        Queue(SESSIONS, max_delivery_count=100, requires_session=True),
        Queue(BRIEF, max_delivery_count=2, forward_dead_lettered_messages_to=ERROR_QUEUE),
        Queue(INVOICES),
        Queue(ERROR_QUEUE, duplicate_detection_window=timedelta(minutes=10)),
    ]
    with ExitStack() as running:
        namespace = running.enter_context(ServiceBusNamespace(queues))
        client = ServiceBusClient.from_connection_string(namespace.connection_string)
        yield Bus(namespace, running.enter_context(client))
        close_own_client(namespace.connection_string)


def close_own_client(connection_string: str) -> None:
    """Close the endpoint's own client while there is a namespace to say good-bye to, and let the next one be made anew."""
    if client_for.cache_info().currsize:
        client_for(ConnectionString(connection_string)).close()
    client_for.cache_clear()


NEXT_SESSION: dict[str, Any] = {"session_id": NEXT_AVAILABLE_SESSION, "max_wait_time": 1}
