"""Check the arguments of an endpoint: each is refused where it is made, with what to write instead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Literal

from recoverable._config import Recoverability
from recoverable._limits import checked_delay, checked_queue
from recoverable._service_bus.app_settings import find_setting, resolved

RESEND, RESEND_IN_A_BATCH = timedelta(seconds=60), timedelta(seconds=10)
"""For how long sends are repeated: the host renews the locks of single messages, and those of a batch it does not."""


def with_error_queue(recoverability: Recoverability, queue: str, settings: Mapping[str, str]) -> Recoverability:
    """Return the settings with the error queue named: as given, else by the app settings, else "error".

    Raises:
        TypeError: no settings.
        ValueError: the error queue is the queue itself, so that a message would fail for ever; or it is a sub-queue.
    """
    if not isinstance(recoverability, Recoverability):
        raise TypeError(f"ServiceBusEndpoint(recoverability) is {recoverability!r}; write Recoverability(...)")
    failed = recoverability.failed
    name = resolved(failed.error_queue or find_setting("RECOVERABLE_ERROR_QUEUE", settings) or "error", settings)
    checked_entity(name)
    if name.lower() == queue.lower():
        raise ValueError(f"the error queue is {name!r}, the queue itself; write the name of another queue")
    return recoverability.replace(failed=failed.replace(error_queue=name))


def connection_name(connection: object) -> str:
    """Return the connection's name, if it is the name of an app setting and no connection string, which holds a key.

    Raises:
        TypeError: no text.
        ValueError: blank, or a connection string.
    """
    wanted = "the name of the app setting that holds the connection"
    if isinstance(connection, str) and "=" in connection:  # no app setting's name has it
        raise ValueError(
            f"ServiceBusEndpoint(connection) is a connection string, which is not shown here; write {wanted}"
        )
    return checked_queue("ServiceBusEndpoint(connection)", connection, wanted)


def queue_name(queue: object, settings: Mapping[str, str]) -> str:
    """Return the queue's name, with app settings in place of `%SETTING%`.

    Raises:
        TypeError: no text.
        ValueError: blank, a `%SETTING%` that is none, or a sub-queue.
    """
    return checked_entity(resolved(checked_queue("ServiceBusEndpoint(queue)", queue), settings))


def checked_entity(queue: str) -> str:
    """Return the queue's name, if it is not one of a sub-queue.

    No copy can be sent to one, and Service Bus dead-letters nothing there.

    Raises:
        ValueError: it is one of a sub-queue.
    """
    if "$" in queue:  # no queue's own name has it
        raise ValueError(
            f"{queue!r} is a sub-queue, which takes no copies; have its messages forwarded to a queue "
            "(ForwardDeadLetteredMessagesTo), and write that queue's name"
        )
    return queue


def checked_sessions(value: object, *, batch: bool) -> bool | Literal["ordered"]:
    """Return how sessions are served, if that is one of the three ways, and a batch does not ask for order.

    Raises:
        ValueError: it is not.
    """
    if value is True or value is False or (value == "ordered" and not batch):
        return "ordered" if value == "ordered" else bool(value)
    if value == "ordered":
        raise ValueError('ServiceBusEndpoint(sessions="ordered", batch=True) cannot keep the order; write batch=False')
    raise ValueError(f'ServiceBusEndpoint(sessions) is {value!r}; write True, False or "ordered"')


def checked_resend_for(value: object, *, batch: bool) -> timedelta:
    """Return for how long sends are repeated: as given, else 60 s, and 10 s in a batch.

    Raises:
        TypeError: no timedelta.
        ValueError: negative, or longer than an hour.
    """
    default = RESEND_IN_A_BATCH if batch else RESEND
    return default if value is None else checked_delay("ServiceBusEndpoint(resend_for)", value, timedelta(hours=1))


def function_name(name: str) -> str:
    """Return the name, if the host takes it for a function.

    Raises:
        ValueError: it does not (azure-functions-host, `Utility.FunctionNameValidationRegex`).
    """
    if not re.fullmatch("[A-Za-z][A-Za-z0-9_-]{0,127}", name):
        raise ValueError(
            f"the function would be called {name!r}; pass ServiceBusEndpoint(name=...): a letter, then up to 127 letters, digits, - or _"
        )
    return name
