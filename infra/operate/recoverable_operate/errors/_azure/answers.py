"""Turn the errors of Service Bus into one line that names the queue or the right that is missing."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager

from recoverable._service_bus.answers import Kind, failure_of
from recoverable_operate.errors._queue import one_line

TEXTS: Mapping[Kind, str] = {
    "missing": "there is no queue {entity}",
    "closed": "{entity} is disabled or full: set its status to Active, or empty it",
    "denied": "{right} is missing for {entity}: assign Azure Service Bus Data Receiver (and Sender on the targets)",
    "limit": "{entity} refused: {reason}",
    "busy": "{entity} is busy: run it again",
    "lost": "no answer from {entity} ({reason}): check the namespace's name and the network, or run it again",
    "unknown": "{entity} failed: {reason}; run it again",
}
NO_CREDENTIALS = "no credentials: run `az login`, or give --connection with a connection string"
CREDENTIALS = {
    "ServiceBusAuthenticationError": "{entity} refuses the key or the identity: check the connection string or the sign-in",
    "ClientAuthenticationError": NO_CREDENTIALS,
    "CredentialUnavailableError": NO_CREDENTIALS,
}
"""Texts for errors by which an endpoint would wait for better credentials."""


def call_error(entity: str, right: str = "Listen") -> AbstractContextManager[None]:
    """Raise what a call raises as one line.

    Raises:
        OperateError: the call failed.
    """
    return one_line(lambda error: describe(error, entity, right))


def describe(error: Exception, entity: str, right: str) -> str:
    """Return what is missing, in one line; an error's own text may quote what was sent, so its type is all else."""
    failure = failure_of(error)
    text = CREDENTIALS.get(failure.reason, TEXTS[failure.kind])
    return text.format(entity=entity, right=right, reason=failure.reason)
