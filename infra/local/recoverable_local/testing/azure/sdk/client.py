"""Encode messages and map refusals as the Azure SDK does: the one place of the world that knows azure-servicebus."""

from __future__ import annotations

from collections.abc import Iterable

from azure.servicebus import ServiceBusMessage, ServiceBusMessageBatch, ServiceBusReceivedMessage
from azure.servicebus.amqp import AmqpAnnotatedMessage
from azure.servicebus.exceptions import (
    MessageLockLostError,
    MessageNotFoundError,
    MessageSizeExceededError,
    MessagingEntityDisabledError,
    MessagingEntityNotFoundError,
    OperationTimeoutError,
    ServiceBusAuthorizationError,
    ServiceBusConnectionError,
    ServiceBusError,
    ServiceBusQuotaExceededError,
    ServiceBusServerBusyError,
    SessionCannotBeLockedError,
    SessionLockLostError,
)

from recoverable_local.service_bus.broker.refusals import RefusedError

ERRORS: dict[str, type[ServiceBusError]] = {
    "amqp:link:message-size-exceeded": MessageSizeExceededError,
    "amqp:not-found": MessagingEntityNotFoundError,
    "amqp:resource-limit-exceeded": ServiceBusQuotaExceededError,
    "amqp:unauthorized-access": ServiceBusAuthorizationError,
    "com.microsoft:auth-failed": ServiceBusAuthorizationError,
    "com.microsoft:entity-disabled": MessagingEntityDisabledError,
    "com.microsoft:message-lock-lost": MessageLockLostError,
    "com.microsoft:message-not-found": MessageNotFoundError,
    "com.microsoft:server-busy": ServiceBusServerBusyError,
    "com.microsoft:session-cannot-be-locked": SessionCannotBeLockedError,
    "com.microsoft:session-lock-lost": SessionLockLostError,
    "com.microsoft:timeout": OperationTimeoutError,
}
"""The error that the SDK raises for each condition of AMQP; for all others its base class."""

LARGE = 2**31

BUSY = RefusedError("com.microsoft:server-busy", "The service is busy; wait 10 seconds and try again.")


def sdk_error(refused: RefusedError) -> ServiceBusError:
    """Return the refusal as the SDK's error."""
    kind = ERRORS.get(refused.condition, ServiceBusError)
    return kind(message=refused.description, condition=refused.condition)


def unreachable_error() -> ServiceBusError:
    """Return the error that the SDK raises when it gets no connection."""
    return ServiceBusConnectionError(message="Failed to initiate the connection due to exception: timed out")


def reset_error() -> ServiceBusError:
    """Return the error that the SDK raises when the connection is reset during a call."""
    text = "Can not read frame due to exception: [Errno 104] Connection reset by peer"
    return ServiceBusConnectionError(message=text, condition="amqp:socket-error")


def no_answer_error() -> ServiceBusError:
    """Return the error that the SDK raises when no answer came in time."""
    return OperationTimeoutError(message="Send operation timed out")


def received_message(wire: bytes) -> ServiceBusReceivedMessage:
    """Decode a message that was received as the SDK does; before 7.15 it has no public way."""
    if hasattr(ServiceBusReceivedMessage, "from_bytes"):
        return ServiceBusReceivedMessage.from_bytes(wire)
    from azure.servicebus._pyamqp._decode import decode_payload

    return ServiceBusReceivedMessage(message=decode_payload(memoryview(wire)), receiver=None)


def encode(message: ServiceBusMessage | AmqpAnnotatedMessage) -> bytes:
    """Encode the message as the SDK does.

    Raises:
        ServiceBusError: a value that the SDK cannot write.
    """
    batch = ServiceBusMessageBatch(LARGE)
    try:
        batch.add_message(message)
    except (TypeError, ValueError) as error:
        raise ServiceBusError(message=f"Handler failed: {error}.", error=error) from error
    return encoded_messages(batch)[0]


def encoded_messages(batch: ServiceBusMessageBatch) -> list[bytes]:
    """Return the messages of a batch, encoded."""
    sections: list[list[bytes]] = batch._message  # noqa: SLF001  # where the SDK keeps what it has encoded
    return sections[DATA]


DATA = 5
"""The place of the body among the sections that the SDK keeps of a message."""


def batch_of(messages: Iterable[ServiceBusMessage], largest: int) -> ServiceBusMessageBatch:
    """Put the messages into one batch.

    Raises:
        MessageSizeExceededError: they are too large for one.
    """
    batch = ServiceBusMessageBatch(largest)
    for message in messages:
        batch.add_message(message)
    return batch
