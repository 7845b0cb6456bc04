"""`host.json` → what of it this host obeys, frozen. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from recoverable.local.azure.timespans import timespan

LEAST_TIMEOUT = timedelta(seconds=1)
"""azure-functions-host, `ScriptJobHostOptionsSetup.MinFunctionTimeout`."""

DEFAULT_TIMEOUT = timedelta(minutes=30)
"""On every plan but Consumption (azure-functions-host, `ScriptJobHostOptionsSetup.DefaultFunctionTimeout`)."""

OVERRIDES = "azurefunctionsjobhost__"
"""How app settings begin that stand in for values of `host.json` (Azure Functions, "Override host.json values")."""


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
    found = _Found(flat)
    return HostOptions(
        function_timeout=_timeout(flat.get("functiontimeout")),
        auto_complete_messages=found.yes("autoCompleteMessages", default=True),
        max_auto_lock_renewal_duration=found.time("maxAutoLockRenewalDuration", timedelta(minutes=5)),
        max_concurrent_calls=found.number("maxConcurrentCalls", None),
        max_concurrent_sessions=found.number("maxConcurrentSessions", 8) or 8,
        max_message_batch_size=found.number("maxMessageBatchSize", 1000) or 1000,
        session_idle_timeout=found.time("sessionIdleTimeout", timedelta(minutes=1)),
        prefetch_count=found.number("prefetchCount", 0, least=0) or 0,
    )


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
    return {
        name.removeprefix(OVERRIDES): value for name, value in named.items() if name.startswith(OVERRIDES)
    }


class _Found:
    """The values below `extensions.serviceBus`, each read as what it has to be."""

    def __init__(self, flat: Mapping[str, Any]) -> None:
        self._flat = flat

    def _value(self, name: str) -> Any:
        return self._flat.get(f"extensions__servicebus__{name.lower()}")

    def yes(self, name: str, *, default: bool) -> bool:
        text = str(default if (value := self._value(name)) is None else value).lower()
        if text not in ("true", "false"):
            raise ValueError(f"{name} is {value!r}; write true or false")
        return text == "true"

    def time(self, name: str, default: timedelta) -> timedelta:
        value = self._value(name)
        return default if value is None else timespan(f"{name}", value)

    def number(self, name: str, default: int | None, *, least: int = 1) -> int | None:
        if (value := self._value(name)) is None:
            return default
        if isinstance(value, bool) or not str(value).isdigit() or int(value) < least:
            raise ValueError(f"{name} is {value!r}; write a whole number, {least} or more")
        return int(value)


def _timeout(value: object) -> timedelta | None:
    if value is None:
        return DEFAULT_TIMEOUT
    if str(value) in ("-1", "-1.00:00:00"):
        return None
    if (timeout := timespan("functionTimeout", value)) < LEAST_TIMEOUT:
        raise ValueError(f"functionTimeout is {value!r}; write a second or more, or -1 for no limit")
    return timeout
