"""`host.json` → what of it this host obeys, frozen. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

LEAST_TIMEOUT = timedelta(seconds=1)
"""azure-functions-host, `ScriptJobHostOptionsSetup.MinFunctionTimeout`."""

DEFAULT_TIMEOUT = timedelta(minutes=30)
"""On every plan but Consumption (azure-functions-host, `ScriptJobHostOptionsSetup.DefaultFunctionTimeout`)."""

OVERRIDES = "azurefunctionsjobhost__"
"""How app settings begin that stand in for values of `host.json` (Azure Functions, "Override host.json values")."""

_TIMESPAN = re.compile(r"(?:(\d+)\.)?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(\.\d{1,7})?)?")


@dataclass(frozen=True, slots=True)
class HostOptions:
    """What `host.json` says; the names and defaults are those of the Service Bus extension 5.x (azure-sdk-for-net, `ServiceBusOptions`).

    Args:
        function_timeout: How long a function may run; None is no limit.
        auto_complete_messages: Whether the host completes what a function returned from.
        max_auto_lock_renewal_duration: How long a message's lock is renewed; batches are not.
        max_concurrent_calls: The most invocations of a function beside each other; None is 16 for each core.
        max_concurrent_sessions: The most sessions beside each other.
        max_message_batch_size: The most messages of a batch.
        session_idle_timeout: How long a session without messages is kept; a minute when None.
        prefetch_count: How many messages are fetched ahead.
    """

    function_timeout: timedelta | None = DEFAULT_TIMEOUT
    auto_complete_messages: bool = True
    max_auto_lock_renewal_duration: timedelta = timedelta(minutes=5)
    max_concurrent_calls: int | None = None
    max_concurrent_sessions: int = 8
    max_message_batch_size: int = 1000
    session_idle_timeout: timedelta = timedelta(minutes=1)
    prefetch_count: int = 0


def host_options(document: object, settings: Mapping[str, str]) -> HostOptions:
    """Read the options.

    Args:
        document: The file's content.
        settings: The app settings, of which some override it.

    Raises:
        ValueError: A value is none that the host takes.
    """
    if not isinstance(document, dict):
        raise ValueError('it holds no object; write {"version": "2.0"}')  # noqa: TRY004  # wrong content, not a wrong call
    flat = flattened(document) | overriding(settings)
    found = {
        field: read(name, value)
        for name, (field, read) in _READ.items()
        if (value := flat.get(f"{_SERVICE_BUS}{name}".lower())) is not None
    }
    return HostOptions(function_timeout=_timeout(flat.get("functiontimeout")), **found)


def flattened(document: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """All values by their paths in lower case, as .NET's configuration sees them."""
    flat: dict[str, Any] = {}
    for name, value in document.items():
        here = f"{path}{name.lower()}"
        flat |= flattened(value, f"{here}__") if isinstance(value, dict) else {here: value}
    return flat


def overriding(settings: Mapping[str, str]) -> dict[str, Any]:
    """The app settings that override values, by the same paths."""
    named = {name.lower().replace(":", "__"): value for name, value in settings.items()}
    return {name.removeprefix(OVERRIDES): value for name, value in named.items() if name.startswith(OVERRIDES)}


def timespan(name: str, value: object) -> timedelta:
    """A duration as .NET writes its `TimeSpan`.

    Raises:
        ValueError: It is none.
    """
    if not isinstance(value, str) or (found := _TIMESPAN.fullmatch(value.strip())) is None:
        raise ValueError(f"{name} is {value!r}; write hours, minutes and seconds, such as '00:05:00'")
    days, hours, minutes, seconds, fraction = found.groups()
    return timedelta(
        days=int(days or 0), hours=int(hours), minutes=int(minutes), seconds=int(seconds or 0) + float(fraction or 0)
    )


def _yes(name: str, value: object) -> bool:
    text = str(value).lower()
    if text not in ("true", "false"):
        raise ValueError(f"{name} is {value!r}; write true or false")
    return text == "true"


def _number(name: str, value: object, *, least: int = 0) -> int:
    if isinstance(value, bool) or not str(value).isdigit() or int(str(value)) < least:
        raise ValueError(f"{name} is {value!r}; write a whole number, {least} or more")
    return int(str(value))


def _from_one(name: str, value: object) -> int:
    return _number(name, value, least=1)


def _timeout(value: object) -> timedelta | None:
    if value is None:
        return DEFAULT_TIMEOUT
    if str(value) in ("-1", "-1.00:00:00"):
        return None
    if (timeout := timespan("functionTimeout", value)) < LEAST_TIMEOUT:
        raise ValueError(f"functionTimeout is {value!r}; write a second or more, or -1 for no limit")
    return timeout


_SERVICE_BUS = "extensions__serviceBus__"
_READ: Mapping[str, tuple[str, Callable[[str, object], Any]]] = {
    "autoCompleteMessages": ("auto_complete_messages", _yes),
    "maxAutoLockRenewalDuration": ("max_auto_lock_renewal_duration", timespan),
    "maxConcurrentCalls": ("max_concurrent_calls", _from_one),
    "maxConcurrentSessions": ("max_concurrent_sessions", _from_one),
    "maxMessageBatchSize": ("max_message_batch_size", _from_one),
    "sessionIdleTimeout": ("session_idle_timeout", timespan),
    "prefetchCount": ("prefetch_count", _number),
}
