"""What the errors of Service Bus mean for a message that is sent: the table that every reader of such errors is held to."""

from __future__ import annotations

from typing import Literal, TypeAlias

from azure.core.exceptions import ClientAuthenticationError
from azure.servicebus import exceptions as sdk

Meaning: TypeAlias = Literal["missing", "closed", "denied", "limit", "busy", "unknown", "lost"]
"""Refused for good: the queue is "missing", it is "closed" (disabled or full), sending to it is "denied", or the message breaks a
"limit". To be repeated: "busy" was not taken now; "unknown" is an unknown error. "lost" says nothing: the message may have been
taken."""

FOR_GOOD = {"missing", "closed", "denied", "limit"}

KINDS = {
    "amqp:link:message-size-exceeded": sdk.MessageSizeExceededError,
    "amqp:not-found": sdk.MessagingEntityNotFoundError,
    "amqp:resource-limit-exceeded": sdk.ServiceBusQuotaExceededError,
    "amqp:unauthorized-access": sdk.ServiceBusAuthorizationError,
    "com.microsoft:entity-disabled": sdk.MessagingEntityDisabledError,
    "com.microsoft:server-busy": sdk.ServiceBusServerBusyError,
    "com.microsoft:timeout": sdk.OperationTimeoutError,
}
"""The class of the SDK's error for a condition; for all others it is its base class (azure-servicebus, `_ERROR_CODE_TO_ERROR_MAPPING`)."""

CONDITIONS: list[tuple[Meaning, str]] = [  # Service Bus documentation, "AMQP errors in Azure Service Bus"
    ("missing", "amqp:not-found"),
    ("closed", "amqp:resource-limit-exceeded"),
    ("closed", "com.microsoft:entity-disabled"),
    ("denied", "amqp:unauthorized-access"),
    ("limit", "amqp:decode-error"),
    ("limit", "amqp:invalid-field"),
    ("limit", "amqp:link:message-size-exceeded"),
    ("limit", "amqp:not-allowed"),
    ("limit", "amqp:not-implemented"),
    ("limit", "com.microsoft:argument-error"),
    ("limit", "com.microsoft:argument-out-of-range"),
    ("busy", "com.microsoft:server-busy"),
    ("lost", "com.microsoft:timeout"),
    ("lost", "amqp:internal-error"),
    ("unknown", "com.microsoft:something-new"),
]

NO_CONDITIONS: list[tuple[Meaning, Exception]] = [  # errors of the SDK, of azure-identity and of the network
    ("limit", TypeError("a value of a type that AMQP does not have")),
    ("limit", ValueError("a name that is no text")),
    ("limit", sdk.ServiceBusError("Value supplied for int invalid", error=ValueError("too large"))),
    ("busy", ClientAuthenticationError("no token could be had")),
    ("busy", sdk.ServiceBusAuthenticationError(message="CBS Token authentication failed. Status code: 401")),
    ("lost", OSError("the connection was reset")),
    ("lost", sdk.OperationTimeoutError()),
    ("lost", sdk.ServiceBusCommunicationError()),
    ("lost", sdk.ServiceBusConnectionError()),
    ("unknown", sdk.ServiceBusError("Handler failed: something new")),
]


def error_of(condition: str) -> sdk.ServiceBusError:
    """Return the error that the SDK raises for a condition of AMQP."""
    kind = KINDS.get(condition)
    text = "no"
    return sdk.ServiceBusError(text, condition=condition) if kind is None else kind(message=text, condition=condition)


ERRORS: list[tuple[str, tuple[Meaning, Exception]]] = [
    *((condition, (meaning, error_of(condition))) for meaning, condition in CONDITIONS),
    *((f"{type(error).__name__} ({meaning})", (meaning, error)) for meaning, error in NO_CONDITIONS),
]
"""All rows by their names."""
