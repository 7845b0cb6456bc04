"""Read app settings as the Functions host does.

They are `%NAMES%` in a text, connections by their name, and the names of host and instance.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Literal

from recoverable.config import Failed, Recoverability
from recoverable.frozen import Frozen
from recoverable.limits import checked_delay, checked_queue
from recoverable.recovery.delivery import Delivery

PREFIXES = ("AzureWebJobs{}", "{}", "ConnectionStrings__{}", "SERVICEBUSCONNSTR_{}", "CUSTOMCONNSTR_{}")
"""The app settings in which the host looks for a connection, in this order (azure-webjobs-sdk,
`GetWebJobsConnectionSection`; App Service, "Connection strings")."""


RESEND, RESEND_IN_A_BATCH = timedelta(seconds=60), timedelta(seconds=10)
"""For how long sends are repeated: the host renews the locks of single messages, and those of a batch it does not."""


class ConnectionString(Frozen):
    """A connection by shared key.

    Args:
        text: the connection string; its EntityPath is removed, for copies go to other queues too.
    """

    text: str

    def __init__(self, text: str) -> None:
        parts = [part for part in text.split(";") if part and not part.lower().startswith("entitypath=")]
        self._assign(text=";".join(parts))

    def __repr__(self) -> str:
        return "ConnectionString(...)"  # it holds a key


class Identity(Frozen):
    """A connection by identity.

    Args:
        namespace: its fully qualified name, such as "shop.servicebus.windows.net".
        settings: the connection's further settings, their names in lower case: `credential`, `clientid`, `tenantid`,
            ...
    """

    namespace: str
    settings: Mapping[str, str]

    def __hash__(self) -> int:
        return hash((self.namespace, frozenset(self.settings.items())))  # the process's client is found by it

    def __repr__(self) -> str:
        return f"Identity({self.namespace!r}, ...)"  # it may hold a secret


def resolved(text: str, settings: Mapping[str, str]) -> str:
    """Return the text with each `%NAME%` replaced by that app setting.

    Raises:
        ValueError: there is no such app setting.
    """

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if (setting := find_setting(name, settings)) is None:
            raise ValueError(
                f"%{name}% in {text!r} is no app setting; add {name} to the app settings, or write the name itself"
            )
        return setting

    return re.sub("%([^%]+)%", value, text)


def find_setting(name: str, settings: Mapping[str, str]) -> str | None:
    """Return the app setting, in upper or lower case and with `:` written as `__`, as the host finds it.

    Return None when there is none.
    """
    wanted = name.replace(":", "__").lower()
    return next((value for key, value in settings.items() if key.lower() == wanted and value), None)


def connection(name: str, settings: Mapping[str, str]) -> ConnectionString | Identity:
    """Return the connection of a name.

    Args:
        name: as the trigger has it, without a prefix.
        settings: the app settings.

    Raises:
        ValueError: neither a connection string nor a namespace is there under that name, or it names a setting that is
            none.
    """
    for prefix in PREFIXES:
        path = prefix.format(resolved(name, settings))
        if text := find_setting(path, settings):
            return ConnectionString(text)
        if namespace := find_setting(f"{path}__fullyQualifiedNamespace", settings):
            return Identity(namespace, settings_below(path, settings))
    raise ValueError(
        f"the connection {name!r} is not among the app settings; add {name} with a connection string, "
        f"or {name}__fullyQualifiedNamespace with a namespace such as shop.servicebus.windows.net"
    )


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
    return recoverability.__replace__(failed=Failed(name, failed.unrecoverable))


def is_source(name: str, delivery: Delivery) -> bool:
    """True if a name is that of the queue that a delivery came from; Service Bus takes upper for lower case."""
    return name.lower() == delivery.message.queue.lower()


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


def host(settings: Mapping[str, str]) -> str:
    """Return the name by which operators know the function app (App Service, "Environment variables")."""
    return settings.get("WEBSITE_SITE_NAME", "local")


def machine(settings: Mapping[str, str]) -> str:
    """Return the name by which operators find this instance."""
    names = ("WEBSITE_INSTANCE_ID", "CONTAINER_NAME", "COMPUTERNAME", "HOSTNAME")
    return next((settings[name] for name in names if settings.get(name)), "local")


def settings_below(path: str, settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings below a path, such as `clientid` for `ServiceBus__clientId` below `ServiceBus`."""
    start = f"{path}__".lower()
    return {
        key.lower().removeprefix(start): value
        for key, value in settings.items()
        if key.lower().startswith(start) and value
    }
