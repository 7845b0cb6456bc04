"""Read app settings as the Functions host does.

They are `%NAMES%` in a text, connections by their name, and the names of host and instance.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta

from recoverable._frozen import Frozen
from recoverable._limits import checked_queue

LOCK_DURATION = "RECOVERABLE_LOCK_DURATION"
"""The app setting that says for how long the queue of a batch locks its messages, written as its `lockDuration`."""

ISO = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")

SETTING = "%([^%]+)%"
"""The name of an app setting in a text."""

NAMESPACE = "__fullyQualifiedNamespace"
"""The end of the name of an app setting with the namespace of a connection by identity."""

HOST_NAME = re.compile(r"(?:\w+://)?[\w-]+(?:\.[\w-]+){2,}/?")

PREFIXES = ("AzureWebJobs{}", "{}", "ConnectionStrings__{}", "SERVICEBUSCONNSTR_{}", "CUSTOMCONNSTR_{}")
"""The app settings in which the host looks for a connection, in this order (azure-webjobs-sdk,
`GetWebJobsConnectionSection`; App Service, "Connection strings")."""


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


def is_connection_string(text: str) -> bool:
    """True if the text may be a connection string or a key, which is shown nowhere: no name and no address has `=` or `;`."""
    return "=" in text or ";" in text


def shown(text: str) -> str:
    """Return the text in quotes for an error; in place of one that may hold a key, words that say so."""
    return "a connection string, which is not shown here," if is_connection_string(text) else repr(text)


def checked_connection(setting: str, connection: object) -> str:
    """Return a connection's name, if it is the name of an app setting.

    Args:
        setting: the setting that holds the name, for the error.
        connection: the name.

    Raises:
        TypeError: not a str.
        ValueError: blank, a connection string, a host name, the whole name of a setting for an identity, or one with a lone `%`.
    """
    wanted = "the name of the app setting that holds the connection"
    if not isinstance(connection, str):
        raise TypeError(f"{setting} is of type {type(connection).__name__}; write {wanted}")
    if is_connection_string(connection):
        raise ValueError(f"{setting} is a connection string, which is not shown here; write {wanted}")
    if HOST_NAME.fullmatch(connection):
        raise ValueError(f"{setting} is {connection!r}, a host name; write {wanted}: X, where that is X{NAMESPACE}")
    name = checked_queue(setting, checked_percents(connection), wanted)
    if name.lower().endswith(NAMESPACE.lower()):
        raise ValueError(f"{setting} is {name!r}; write {name[: -len(NAMESPACE)]!r}, without {NAMESPACE}")
    return name


def resolved(text: str, settings: Mapping[str, str]) -> str:
    """Return the text with each `%NAME%` replaced by that app setting.

    Raises:
        ValueError: a name that is not among the app settings, or a lone `%`.
    """

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if (setting := find_setting(name, settings)) is None:
            raise ValueError(
                f"%{name}% in {shown(text)} is no app setting; add {name} to the app settings, or write the name itself"
            )
        return setting

    return re.sub(SETTING, value, checked_percents(text))


def checked_percents(text: str) -> str:
    """Return the text, if each `%` in it is one of the two around a setting's name; else raise ValueError."""
    if "%" in re.sub(SETTING, "", text):
        raise ValueError(f"{shown(text)} has a % by itself; write %NAME% for the app setting NAME")
    return text


def find_setting(name: str, settings: Mapping[str, str]) -> str | None:
    """Return the app setting, in upper or lower case and with `:` written as `__`, as the host finds it.

    Return None when there is none.
    """
    wanted = name.replace(":", "__").lower()
    return next((value for key, value in settings.items() if key.lower() == wanted and value), None)


def duration(text: object) -> timedelta:
    """Return a duration of ISO 8601, as Azure Resource Manager writes it, such as PT1M.

    Raises:
        ValueError: not a duration such as PT1M, or longer than a timedelta can be.
    """
    found = ISO.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise ValueError(f"{text!r} is no duration such as PT1M, as a lockDuration is")
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


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
        if namespace := find_setting(f"{path}{NAMESPACE}", settings):
            return Identity(namespace, settings_below(path, settings))
    raise ValueError(
        f"the connection {name!r} is not among the app settings; add {name} with a connection string, "
        f"or {name}{NAMESPACE} with a namespace such as shop.servicebus.windows.net"
    )


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
