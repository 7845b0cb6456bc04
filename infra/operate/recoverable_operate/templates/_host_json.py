"""Parse the options of `host.json` that concern a Service Bus trigger. Pure."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

MIN_TIMEOUT = timedelta(seconds=1)
"""The shortest functionTimeout (azure-functions-host, `ScriptJobHostOptionsSetup.MinFunctionTimeout`)."""

DEFAULT_TIMEOUT = timedelta(minutes=30)
"""The default functionTimeout on every plan but Consumption (azure-functions-host, `ScriptJobHostOptionsSetup.DefaultFunctionTimeout`)."""

CORES = os.cpu_count() or 1
CALLS_PER_CORE = 16
"""The default of concurrent calls (azure-sdk-for-net, `ServiceBusOptions.MaxConcurrentCalls`)."""

OVERRIDES = "azurefunctionsjobhost__"
"""The prefix of app settings that override values of `host.json` (Azure Functions, "Override host.json values")."""

_TIMESPAN = re.compile(r"(?:(\d+)\.)?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(\.\d{1,7})?)?")


@dataclass(frozen=True, slots=True)
class HostOptions:
    """The options of `host.json`, with names and defaults of the Service Bus extension 5.x (azure-sdk-for-net, `ServiceBusOptions`).

    Args:
        function_timeout: How long a function may run; None is no limit.
        auto_complete_messages: True if the host completes a message when its function returned.
        max_auto_lock_renewal_duration: How long a message's lock is renewed; locks of batches are not renewed.
        max_concurrent_calls: The most concurrent invocations of a function; None is 16 for each core.
        max_concurrent_sessions: The most concurrent sessions.
        max_message_batch_size: The most messages of a batch.
        session_idle_timeout: How long a session without messages is kept.
        prefetch_count: How many messages are prefetched.
    """

    function_timeout: timedelta | None = DEFAULT_TIMEOUT
    auto_complete_messages: bool = True
    max_auto_lock_renewal_duration: timedelta = timedelta(minutes=5)
    max_concurrent_calls: int | None = None
    max_concurrent_sessions: int = 8
    max_message_batch_size: int = 1000
    session_idle_timeout: timedelta = timedelta(minutes=1)
    prefetch_count: int = 0


def host_options(document: Mapping[str, Any], settings: Mapping[str, str]) -> HostOptions:
    """Parse the options.

    Args:
        document: The file's content.
        settings: The app settings, some of which override it.

    Raises:
        ValueError: The host does not accept a value.
    """
    flat = flattened(document) | overriding(settings)
    found = {
        field: parse(name, value)
        for name, (field, parse) in _OPTIONS.items()
        if (value := flat.get(f"{_SERVICE_BUS}{name}".lower())) is not None
    }
    return HostOptions(function_timeout=_timeout(flat.get("functiontimeout")), **found)


def flattened(document: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Return all values by their paths in lower case, as .NET's configuration has them."""
    flat: dict[str, Any] = {}
    for name, value in document.items():
        here = f"{path}{name.lower()}"
        flat |= flattened(value, f"{here}__") if isinstance(value, dict) else {here: value}
    return flat


def overriding(settings: Mapping[str, str]) -> dict[str, Any]:
    """Return the app settings that override values, by the same paths."""
    named = {name.lower().replace(":", "__"): value for name, value in settings.items()}
    return {name.removeprefix(OVERRIDES): value for name, value in named.items() if name.startswith(OVERRIDES)}


def timespan(name: str, value: object) -> timedelta:
    """Parse a duration in the form of .NET's `TimeSpan`.

    Raises:
        ValueError: The value is none.
    """
    if not isinstance(value, str) or (found := _TIMESPAN.fullmatch(value.strip())) is None:
        raise ValueError(f"{name} is {value!r}; write hours, minutes and seconds, such as '00:05:00'")
    days, hours, minutes, seconds, fraction = found.groups()
    return timedelta(
        days=int(days or 0), hours=int(hours), minutes=int(minutes), seconds=int(seconds or 0) + float(fraction or 0)
    )


def _boolean(name: str, value: object) -> bool:
    text = str(value).lower()
    if text not in ("true", "false"):
        raise ValueError(f"{name} is {value!r}; write true or false")
    return text == "true"


def _number(name: str, value: object, *, minimum: int = 0) -> int:
    if isinstance(value, bool) or not str(value).isdigit() or int(str(value)) < minimum:
        raise ValueError(f"{name} is {value!r}; write a whole number, {minimum} or more")
    return int(str(value))


def _positive_number(name: str, value: object) -> int:
    return _number(name, value, minimum=1)


def _timeout(value: object) -> timedelta | None:
    if value is None:
        return DEFAULT_TIMEOUT
    if str(value) in ("-1", "-1.00:00:00"):
        return None
    if (timeout := timespan("functionTimeout", value)) < MIN_TIMEOUT:
        raise ValueError(f"functionTimeout is {value!r}; write a second or more, or -1 for no limit")
    return timeout


_SERVICE_BUS = "extensions__serviceBus__"
_OPTIONS: Mapping[str, tuple[str, Callable[[str, object], Any]]] = {
    "autoCompleteMessages": ("auto_complete_messages", _boolean),
    "maxAutoLockRenewalDuration": ("max_auto_lock_renewal_duration", timespan),
    "maxConcurrentCalls": ("max_concurrent_calls", _positive_number),
    "maxConcurrentSessions": ("max_concurrent_sessions", _positive_number),
    "maxMessageBatchSize": ("max_message_batch_size", _positive_number),
    "sessionIdleTimeout": ("session_idle_timeout", timespan),
    "prefetchCount": ("prefetch_count", _number),
}
