"""Turn the errors of Service Bus into one line that names the queue or the right that is missing."""

from __future__ import annotations

from contextlib import AbstractContextManager

from recoverable_operate.errors._queue import one_line

TEXTS = {
    "ServiceBusAuthorizationError": "{right} is missing for {entity}: assign Azure Service Bus Data Receiver (and Sender on the targets)",
    "ServiceBusAuthenticationError": "{entity} refuses the key or the identity: check the connection string or the sign-in",
    "ClientAuthenticationError": "no credentials: run `az login`, or give --connection with a connection string",
    "CredentialUnavailableError": "no credentials: run `az login`, or give --connection with a connection string",
    "MessagingEntityNotFoundError": "there is no queue {entity}",
    "MessagingEntityDisabledError": "{entity} is disabled: set its status to Active",
    "ServiceBusConnectionError": "no connection to {entity}: check the namespace's name and the network",
    "ServiceBusCommunicationError": "no connection to {entity}: check the namespace's name and the network",
    "OperationTimeoutError": "no answer from {entity} in time: run it again",
}


def call_error(entity: str, right: str = "Listen") -> AbstractContextManager[None]:
    """Raise what a call raises as one line.

    Raises:
        OperateError: the call failed.
    """
    return one_line(lambda error: describe(error, entity, right))


def describe(error: Exception, entity: str, right: str) -> str:
    """Return what is missing, in one line; an error's own text may quote what was sent, so its type is all else."""
    name = type(error).__name__
    return TEXTS.get(name, "{entity} refused: " + name).format(entity=entity, right=right)
