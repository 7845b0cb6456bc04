"""Define what an error of azure-servicebus means for what was sent: the one table that all callers ask."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["missing", "closed", "denied", "limit", "busy", "unknown", "lost", "untried"]
"""Refused for good: the entity is "missing"; it is "closed" (disabled or full); access is "denied"; the message breaks a "limit" or
cannot be encoded. To be repeated: the namespace is "busy", or does not know the credentials; the answer is "unknown"; it is "lost", and the
message may have been taken; it is "untried", because one before it failed."""

NAMES: Mapping[Kind, str] = {
    "missing": "amqp:not-found MessagingEntityNotFoundError",
    "closed": "amqp:resource-limit-exceeded com.microsoft:entity-disabled MessagingEntityDisabledError ServiceBusQuotaExceededError",
    "denied": "amqp:unauthorized-access ServiceBusAuthorizationError",
    "limit": "amqp:decode-error amqp:invalid-field amqp:link:message-size-exceeded amqp:not-allowed amqp:not-implemented"
    " com.microsoft:argument-error com.microsoft:argument-out-of-range MessageSizeExceededError TypeError ValueError",
    # credentials that expired or are wrong (401) are put right while the message waits; a missing role (403) is not
    "busy": "com.microsoft:server-busy ClientAuthenticationError ServiceBusAuthenticationError ServiceBusServerBusyError",
    "lost": "amqp:internal-error com.microsoft:timeout OSError OperationTimeoutError ServiceBusCommunicationError ServiceBusConnectionError",
}
"""Conditions in the broker's answers (Service Bus, "AMQP errors in Azure Service Bus"), and classes of errors, by the names, so that the SDK
need not be imported."""

KINDS: Mapping[str, Kind] = {name: kind for kind, names in NAMES.items() for name in names.split()}

RESETS = frozenset({"ConnectionError", "ServiceBusConnectionError"})
"""Classes of errors by which a connection or its link ended, where others say that no answer came in time."""


class Failure(NamedTuple):
    """Why a message was not sent.

    Args:
        kind: what the error means.
        error: the error; None for one that nobody has tried to send.
    """

    kind: Kind
    error: Exception | None

    @property
    def is_for_good(self) -> bool:
        """True if the same message will be refused again by this entity."""
        return self.kind in ("missing", "closed", "denied", "limit")

    @property
    def is_unknown(self) -> bool:
        """True for an unknown answer, which may pass or not: `amqp:internal-error` says to try again, also of a property that is too large."""
        return self.kind == "unknown" or condition_of(self.error) == "amqp:internal-error"

    @property
    def is_unanswered(self) -> bool:
        """True if it is no answer of the entity, so that the connection may be broken."""
        return self.kind in ("lost", "unknown")

    @property
    def is_reset(self) -> bool:
        """True if the connection or its link was ended before an answer came."""
        return self.kind == "lost" and any(each.__name__ in RESETS for each in type(self.error).__mro__)

    @property
    def is_of_the_entity(self) -> bool:
        """True if the entity refuses whatever it is sent for now."""
        return self.kind in ("missing", "busy")

    @property
    def fits_when_smaller(self) -> bool:
        """True if a message with fewer properties may be taken."""
        return self.kind == "limit"

    @property
    def reason(self) -> str:
        """Return the error's type for a log. Its own text is left out, because it may quote what was sent."""
        return type(self.error).__name__


UNTRIED = Failure("untried", None)


def condition_of(error: Exception | None) -> str:
    """Return the condition in an answer of the broker; "" where there is none."""
    found = re.search(r"Error condition: (\S+?)\.(?:\s|$)", str(error))
    return found[1] if found else ""


def failure_of(error: Exception) -> Failure:
    """Return what an error means."""
    inner = getattr(error, "inner_exception", None)
    if isinstance(inner, TypeError | ValueError):  # the SDK could not encode the message
        return Failure("limit", error)
    names = (condition_of(error), *(each.__name__ for each in type(error).__mro__))
    return Failure(next((KINDS[name] for name in names if name in KINDS), "unknown"), error)
