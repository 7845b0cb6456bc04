"""Service Bus as what keeps timeouts: scheduled messages, for a migration to native delivery."""

from __future__ import annotations

from base64 import b64encode
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..aws.wire import wire_of
from ..errors import MessageDeserializationError
from .migration import Sent
from .timeout import Timeout

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusClient, ServiceBusMessage


class ServiceBusTarget:
    """The queues of a namespace, by the last part of the SQS queues' names.

    Args:
        connection: a connection string, or a namespace such as "shop.servicebus.windows.net" for an identity.
    """

    name = "Service Bus"

    def __init__(self, connection: str) -> None:
        self._client = client_for(connection)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def objection(self, timeout: Timeout, now: datetime) -> str | None:  # noqa: ARG002  # the port's
        """It takes all whose body is with it."""
        if isinstance(wire(timeout).body, MessageDeserializationError):
            return "its body was left in S3 by NServiceBus, from where it is not read"
        return None

    def send(self, timeouts: Sequence[Timeout], now: datetime) -> Sent:  # noqa: ARG002  # the port's
        """Schedule them, queue by queue; a queue or a message that is not taken does not hold back others."""
        ids: set[str] = set()
        failed: set[str] = set()
        for queue, those in by_queue(timeouts).items():
            try:
                self._send(queue, those, ids, failed)
            except Exception as error:  # noqa: BLE001  # whatever it is, it is told, and what was not sent stays
                failed.add(f"{queue}: {type(error).__name__}")
        return Sent(frozenset(ids), "; ".join(sorted(failed)))

    def _send(self, queue: str, timeouts: Sequence[Timeout], ids: set[str], failed: set[str]) -> None:
        """Schedule those of one queue; what is noted of each stays noted when the queue gives out."""
        from azure.servicebus.exceptions import MessageSizeExceededError

        with self._client.get_queue_sender(queue) as sender:
            for timeout in timeouts:
                try:
                    sender.send_messages(scheduled(timeout))
                    ids.add(timeout.id)
                except (MessageSizeExceededError, TypeError, ValueError) as error:  # of this one alone
                    failed.add(f"{queue}: {type(error).__name__}")


def by_queue(timeouts: Sequence[Timeout]) -> Mapping[str, Sequence[Timeout]]:
    """The timeouts by the names that their queues have without region and account."""
    found: dict[str, list[Timeout]] = defaultdict(list)
    for timeout in timeouts:
        name = timeout.to.rstrip("/").rpartition("/")[2].rpartition(":")[2]
        found[name.removesuffix(".fifo")].append(timeout)
    return found


def scheduled(timeout: Timeout) -> ServiceBusMessage:
    """The timeout as a scheduled message: headers as properties, its id as the message's, so that duplicates can be detected."""
    from azure.servicebus import ServiceBusMessage

    taken = wire(timeout)
    assert not isinstance(taken.body, MessageDeserializationError)
    return ServiceBusMessage(
        taken.body,
        application_properties=dict(taken.promoted()),
        message_id=timeout.id,
        scheduled_enqueue_time_utc=timeout.due_at,
        session_id=timeout.group_id,
    )


def wire(timeout: Timeout) -> Any:
    """The message taken apart, whichever shape of NServiceBus.AmazonSQS it has."""
    attributes = {name: as_received(value) for name, value in timeout.attributes.items()}
    return wire_of({"body": timeout.body, "messageAttributes": attributes})


def as_received(value: Mapping[str, Any]) -> dict[str, Any]:
    """An attribute as an event has it."""
    received = {"dataType": value.get("DataType"), "stringValue": value.get("StringValue")}
    if "BinaryValue" in value:
        received["binaryValue"] = b64encode(value["BinaryValue"]).decode()
    return {name: part for name, part in received.items() if part is not None}


def client_for(connection: str) -> ServiceBusClient:
    """A client by connection string, or by identity."""
    from azure.servicebus import ServiceBusClient

    if "=" in connection:
        return ServiceBusClient.from_connection_string(connection)
    from azure.identity import DefaultAzureCredential

    return ServiceBusClient(connection, DefaultAzureCredential())
