"""Move timeouts to Service Bus as scheduled messages, for a migration to native delivery."""

from __future__ import annotations

from base64 import b64encode
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recoverable import MessageDeserializationError
from recoverable._service_bus.answers import failure_of
from recoverable._service_bus.wire import in_milliseconds
from recoverable._sqs.wire import wire_of
from recoverable.timeouts import Timeout
from recoverable_operate._migration.moving import SendResult

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusSender

CALL_TIMEOUT = 30
"""Seconds for one call, long enough to connect anew."""

RESENDS = 1
"""How often the SDK sends again what was not answered: a link that Service Bus closed for idleness fails once; more could only make more copies."""


class ServiceBusTarget:
    """The queues of a namespace, by the last part of the SQS queues' names.

    Args:
        connection: a connection string, or a namespace such as "shop.servicebus.windows.net" for an identity.
    """

    name = "Service Bus"

    def __init__(self, connection: str) -> None:
        self._client = client_for(connection)
        self.address = f"Service Bus {self._client.fully_qualified_namespace}"
        self._senders: dict[str, ServiceBusSender] = {}
        self._refusals: dict[str, str] = {}

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def reason_to_skip(self, timeout: Timeout, now: datetime) -> str | None:  # noqa: ARG002  # the port's
        """Return a reason for a timeout whose body is not with it; None for all others."""
        if isinstance(parse_wire(timeout).body, MessageDeserializationError):
            return "its body was left in S3 by NServiceBus, from where it is not read"
        return None

    def send(self, timeouts: Sequence[Timeout], now: datetime) -> SendResult:  # noqa: ARG002  # the port's
        """Schedule the timeouts, queue by queue. A queue or a message that is refused does not hold back others."""
        sent = SendResult()
        for queue, those in group_by_queue(timeouts).items():
            if not sent.failed and queue not in self._senders and queue not in self._refusals:
                self._open(queue, sent)
            if queue in self._refusals:
                sent.refused |= {timeout.id: self._refusals[queue] for timeout in those}
            elif not sent.failed:
                self._send(queue, those, sent)
        return sent

    def _open(self, queue: str, sent: SendResult) -> None:
        """Open a sender to a queue. A queue that refuses is not tried again, because each answer takes a second."""
        try:
            self._senders[queue] = self._client.get_queue_sender(queue).__enter__()
        except Exception as error:  # noqa: BLE001  # whatever it is, the result holds it, and nothing was sent
            if failure_of(error).is_for_good:
                self._refusals[queue] = describe_error(queue, error)
            else:
                sent.failed = describe_error(queue, error)

    def _send(self, queue: str, timeouts: Sequence[Timeout], sent: SendResult) -> None:
        """Schedule the timeouts of one queue together. What is refused together is sent one by one: one bad message must not hold back the others."""
        ids = [timeout.id for timeout in timeouts]
        try:
            messages = [to_scheduled_message(timeout) for timeout in timeouts]
            self._senders[queue].send_messages(messages, timeout=CALL_TIMEOUT)
        except Exception as error:  # noqa: BLE001  # whatever it is, the result holds it, and what is not refused stays held
            if not failure_of(error).is_for_good:
                sent.unconfirmed |= dict.fromkeys(ids, describe_error(queue, error))
                sent.failed = describe_error(queue, error)
            elif len(timeouts) == 1:
                sent.refused[ids[0]] = describe_error(queue, error)
            else:
                self._send_singly(queue, timeouts, sent)
        else:
            sent.ids.update(ids)

    def _send_singly(self, queue: str, timeouts: Sequence[Timeout], sent: SendResult) -> None:
        for timeout in timeouts:
            if not sent.failed:
                self._send(queue, [timeout], sent)


def describe_error(queue: str, error: Exception) -> str:
    """Return the queue and the error's type. The error's own text is left out, because it may quote what was sent."""
    return f"{queue}: {failure_of(error).reason}"


def group_by_queue(timeouts: Sequence[Timeout]) -> Mapping[str, Sequence[Timeout]]:
    """Return the timeouts by the names of their queues, without region and account."""
    found: dict[str, list[Timeout]] = defaultdict(list)
    for timeout in timeouts:
        name = timeout.to.rstrip("/").rpartition("/")[2].rpartition(":")[2]
        found[name.removesuffix(".fifo")].append(timeout)
    return found


def to_scheduled_message(timeout: Timeout) -> ServiceBusMessage:
    """Return the timeout as a scheduled message: headers as properties, and its id as the message id, so that duplicates can be detected."""
    from azure.servicebus import ServiceBusMessage

    taken = parse_wire(timeout)
    assert not isinstance(taken.body, MessageDeserializationError)
    return ServiceBusMessage(
        taken.body,
        application_properties=dict(taken.promoted()),
        message_id=timeout.id,
        scheduled_enqueue_time_utc=in_milliseconds(timeout.due_at),
        session_id=timeout.group_id,
    )


def parse_wire(timeout: Timeout) -> Any:
    """Return the parts of the message, whichever shape of NServiceBus.AmazonSQS it has."""
    attributes = {name: to_received_attribute(value) for name, value in timeout.attributes.items()}
    return wire_of({"body": timeout.body, "messageAttributes": attributes})


def to_received_attribute(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message attribute as an event has it."""
    received = {"dataType": value.get("DataType"), "stringValue": value.get("StringValue")}
    if "BinaryValue" in value:
        received["binaryValue"] = b64encode(value["BinaryValue"]).decode()
    return {name: part for name, part in received.items() if part is not None}


def client_for(connection: str) -> ServiceBusClient:
    """Return a client for a connection string, or for a host name with an identity."""
    from azure.servicebus import ServiceBusClient

    if "=" in connection:
        return ServiceBusClient.from_connection_string(connection, retry_total=RESENDS)
    from azure.identity import DefaultAzureCredential

    return ServiceBusClient(connection, DefaultAzureCredential(), retry_total=RESENDS)
