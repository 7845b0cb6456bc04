"""Tell from an error of azure-servicebus why a send failed, and so what helps."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

Refusal: TypeAlias = Literal["missing", "closed", "limit", "denied", "transient"]
"""Why a send failed: the queue is "missing"; it is "closed", which is disabled or full; the message breaks a "limit" or cannot be
encoded; access is "denied"; all else is "transient", such as busy, a time-out, or no connection."""

LIMITS = {
    "amqp:decode-error",
    "amqp:invalid-field",
    "amqp:link:message-size-exceeded",
    "amqp:not-allowed",
    "amqp:not-implemented",
    "com.microsoft:argument-error",
    "com.microsoft:argument-out-of-range",
}
"""Conditions that refuse the message itself (Service Bus, "AMQP errors in Azure Service Bus")."""


def refusal_of(error: BaseException) -> Refusal:
    """Return why a send failed."""
    from azure.core.exceptions import ClientAuthenticationError
    from azure.servicebus import exceptions as sdk

    if isinstance(error, sdk.MessagingEntityNotFoundError):
        return "missing"
    if isinstance(error, sdk.MessagingEntityDisabledError | sdk.ServiceBusQuotaExceededError):
        return "closed"
    if isinstance(
        error, sdk.ServiceBusAuthenticationError | sdk.ServiceBusAuthorizationError | ClientAuthenticationError
    ):
        return "denied"
    return "limit" if is_about_the_message(error) else "transient"


def is_about_the_message(error: BaseException) -> bool:
    """True if the same message will be refused again: it is too large, breaks another limit, or cannot be encoded."""
    from azure.servicebus.exceptions import MessageSizeExceededError

    encoding = (MessageSizeExceededError, TypeError, ValueError)
    if isinstance(error, encoding) or isinstance(getattr(error, "inner_exception", None), encoding):
        return True
    condition = re.search(r"Error condition: (\S+?)\.(?:\s|$)", str(error))
    return condition is not None and condition[1] in LIMITS
