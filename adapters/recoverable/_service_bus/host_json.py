"""Read host.json and the app settings that replace its values, as the Functions host does.

A value that the host refuses, or takes in a way that nobody means, is a problem that names the place; that option then has its default.
"""

from __future__ import annotations

import json
import os
import re
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from recoverable._frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SHORTEST_TIMEOUT = timedelta(seconds=1)
"""The shortest functionTimeout (azure-functions-host, `ScriptJobHostOptionsSetup.MinFunctionTimeout`)."""

CONSUMPTION_TIMEOUT = timedelta(minutes=5)
"""The default of functionTimeout in the Consumption plan (as above, `DefaultConsumptionFunctionTimeout`)."""

DEFAULT_TIMEOUT = timedelta(minutes=30)
"""The default of functionTimeout in all other plans (as above, `DefaultFunctionTimeout`)."""

CORES = os.cpu_count() or 1
CALLS_PER_CORE = 16
"""The default of concurrent calls (azure-sdk-for-net, `ServiceBusOptions.MaxConcurrentCalls`)."""

TEXT = r'("(?:[^"\\]|\\.)*")'
COMMENT = re.compile(rf"{TEXT}|//[^\n]*|/\*.*?\*/", re.DOTALL)
TRAILING_COMMA = re.compile(rf"{TEXT}|,(?=\s*[}}\]])", re.DOTALL)

USER_OF_AN_ADDRESS = re.compile("//[^/]*@")
"""A user and a password in the address of a proxy, which no log shows; the host does not use them."""

OVERRIDES = "azurefunctionsjobhost__"
"""The prefix of app settings that replace values of host.json (Azure Functions, "Override host.json values")."""

TIMESPAN = re.compile(r"(?:(\d{1,8})\.)?([01]?\d|2[0-3]):([0-5]?\d)(?::([0-5]?\d)(\.\d{1,7})?)?", re.ASCII)
"""The forms of .NET's `TimeSpan.Parse` that say what they mean: it reads "24:00:00" as 24 days, and "8" as 8 days."""

ENDLESS = re.compile(r"-00:00:00\.0010{0,4}")
"""A lock renewal without an end (.NET's `Timeout.InfiniteTimeSpan`)."""


class Proxy(NamedTuple):
    """The address of an HTTP proxy."""

    host: str
    port: int


class HostOptions(Frozen):
    """The options of host.json, with names and defaults of the Service Bus extension 5.x (azure-sdk-for-net, `ServiceBusOptions`).

    Args:
        function_timeout: how long a function may run; None for no limit.
        auto_complete_messages: True if the host completes a message when its function returned.
        max_auto_lock_renewal_duration: how long a message's lock is renewed, `timedelta.max` without an end; locks of batches are not renewed.
        max_concurrent_calls: the most concurrent invocations of a function; None is 16 for each core.
        max_concurrent_sessions: the most concurrent sessions.
        max_message_batch_size: the most messages of a batch.
        session_idle_timeout: how long a session without messages is kept.
        prefetch_count: how many messages are prefetched.
        transport_type: how the host connects to Service Bus.
        web_proxy: the proxy that it connects through, by WebSockets.
    """

    function_timeout: timedelta | None = DEFAULT_TIMEOUT
    auto_complete_messages: bool = True
    max_auto_lock_renewal_duration: timedelta = timedelta(minutes=5)
    max_concurrent_calls: int | None = None
    max_concurrent_sessions: int = 8
    max_message_batch_size: int = 1000
    session_idle_timeout: timedelta = timedelta(minutes=1)
    prefetch_count: int = 0
    transport_type: Literal["amqpTcp", "amqpWebSockets"] = "amqpTcp"
    web_proxy: Proxy | None = None


class HostFile(NamedTuple):
    """The content of a host.json.

    Args:
        options: its options.
        document: its content; None where there is no such file, or none that can be read.
        problems: a sentence without a full stop for each value that the host would refuse, beginning with the file's path.
    """

    options: HostOptions
    document: dict[str, Any] | None
    problems: tuple[str, ...]


def host_file(settings: Mapping[str, str]) -> Path:
    """Return where host.json is: in the folder that the app settings name, else in the working directory, as on Functions."""
    return Path(settings.get("AzureWebJobsScriptRoot", ".")) / "host.json"


def read_host_json(path: Path, settings: Mapping[str, str]) -> HostFile:
    """Return what the file and the app settings say. A missing file has the defaults, and is no problem.

    Args:
        path: the file.
        settings: the app settings, some of which replace its values.
    """
    try:
        document, problem = parse_json(path.read_text("utf-8-sig")), ""
        if not isinstance(document, dict):
            document, problem = None, 'it contains no object; write {"version": "2.0", ...}'
        values = values_of(document or {}, settings)
    except FileNotFoundError:
        document, problem, values = None, "", values_of({}, settings)
    except OSError as error:
        document, problem, values = None, f"it cannot be read ({error.strerror})", values_of({}, settings)
    except (ValueError, RecursionError) as error:
        document, problem, values = None, f"it is no JSON ({error})", values_of({}, settings)
    options, problems = options_of(values, settings)
    return HostFile(options, document, tuple(f"{path}: {each}" for each in ([problem] if problem else []) + problems))


def parse_json(text: str) -> Any:
    """Parse JSON with comments and trailing commas, as the host's parser (Newtonsoft.Json) accepts it.

    Raises:
        ValueError: not JSON.
    """
    without_comments = COMMENT.sub(lambda found: found[1] or " ", text)
    return json.loads(TRAILING_COMMA.sub(lambda found: found[1] or "", without_comments))


def values_of(document: Mapping[str, Any], settings: Mapping[str, str]) -> dict[str, Any]:
    """Return all values, those of the app settings first, by their paths in lower case, as .NET's configuration has them."""
    named = {overridden(name): value for name, value in settings.items() if value}
    return flattened(document) | {name: value for name, value in named.items() if name}


def overridden(setting: str) -> str:
    """Return the path of the value that an app setting replaces; an empty text if it replaces none."""
    name = setting.lower().replace(":", "__")
    return name.removeprefix(OVERRIDES) if name.startswith(OVERRIDES) else ""


def flattened(document: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Return all values of a document by their paths in lower case."""
    flat: dict[str, Any] = {}
    for name, value in document.items():
        here = f"{path}{name.lower()}"
        flat |= flattened(value, f"{here}__") if isinstance(value, dict) else {here: value}
    return flat


def options_of(values: Mapping[str, Any], settings: Mapping[str, str]) -> tuple[HostOptions, list[str]]:
    """Return the options, and what is wrong with those that keep their defaults.

    Args:
        values: all values by their paths.
        settings: the app settings, which say the plan, and which of them said a value.
    """
    found: dict[str, Any] = {}
    if settings.get("WEBSITE_SKU") == "Dynamic":
        found["function_timeout"] = CONSUMPTION_TIMEOUT
    problems = []
    for path, (option, parse) in OPTIONS.items():
        if (value := values.get(path.lower())) is None:
            continue
        try:
            found[option] = parse(value)
        except ValueError as error:
            setting = next((name for name, text in settings.items() if text and overridden(name) == path.lower()), "")
            place = f"the app setting {setting}" if setting else path.rpartition("__")[2]
            shown = USER_OF_AN_ADDRESS.sub("//...@", repr(value))
            problems.append(f"{place} is {shown}; write {error}")
    return HostOptions(**found), problems


def timespan(value: object) -> timedelta:
    """Return the duration.

    Raises:
        ValueError: not a time span such as '00:05:00'; its text says what to write.
    """
    if not isinstance(value, str) or (found := TIMESPAN.fullmatch(value.strip())) is None:
        raise ValueError("hours, minutes and seconds, such as '00:05:00', or a day as '1.00:00:00'")
    days, hours, minutes, seconds, fraction = found.groups()
    return timedelta(
        days=int(days or 0), hours=int(hours), minutes=int(minutes), seconds=int(seconds or 0) + float(fraction or 0)
    )


def renewal(value: object) -> timedelta:
    """Return how long locks are renewed; `timedelta.max` where nothing ends it.

    Raises:
        ValueError: not a time span; its text says what to write.
    """
    return timedelta.max if ENDLESS.fullmatch(str(value)) else timespan(value)


def timeout(value: object) -> timedelta | None:
    """Return how long a function may run; None for no limit.

    Raises:
        ValueError: not a time span of a second or more, nor -1; its text says what to write.
    """
    if str(value) in ("-1", "-1.00:00:00"):
        return None
    if (duration := timespan(value)) < SHORTEST_TIMEOUT:
        raise ValueError("a second or more, or -1 for no limit")
    return duration


def boolean(value: object) -> bool:
    """Return the switch.

    Raises:
        ValueError: neither true nor false; its text says what to write.
    """
    if (text := str(value).lower()) not in ("true", "false"):
        raise ValueError("true or false")
    return text == "true"


def whole_number(value: object, least: int = 0) -> int:
    """Return the whole number.

    Raises:
        ValueError: not a whole number from `least` on; its text says what to write.
    """
    if isinstance(value, bool) or not re.fullmatch("[0-9]{1,9}", str(value)) or int(str(value)) < least:
        raise ValueError(f"a whole number, {least} or more")
    return int(str(value))


def transport(value: object) -> str:
    """Return how to connect.

    Raises:
        ValueError: neither amqpTcp nor amqpWebSockets; its text says what to write.
    """
    ways = {"amqptcp": "amqpTcp", "amqpwebsockets": "amqpWebSockets"}
    if (way := ways.get(str(value).lower())) is None:
        raise ValueError("amqpTcp or amqpWebSockets")
    return way


def proxy(value: object) -> Proxy | None:
    """Return the address of a proxy, as .NET's `WebProxy` reads it; None for an empty text.

    Raises:
        ValueError: not an address such as 'http://proxy.shop.example:8080'; its text says what to write.
    """
    if not value:
        return None
    address = urlsplit(str(value) if "://" in str(value) else f"http://{value}")
    try:
        port = address.port or {"http": 80, "https": 443}.get(address.scheme)
    except ValueError:
        port = None
    if not address.hostname or port is None:
        raise ValueError("the address of a proxy, such as 'http://proxy.shop.example:8080'")
    return Proxy(address.hostname, port)


BUS = "extensions__serviceBus__"
OPTIONS: Mapping[str, tuple[str, Callable[[object], Any]]] = {
    "functionTimeout": ("function_timeout", timeout),
    f"{BUS}autoCompleteMessages": ("auto_complete_messages", boolean),
    f"{BUS}sessionHandlerOptions__maxAutoRenewDuration": ("max_auto_lock_renewal_duration", renewal),
    f"{BUS}messageHandlerOptions__maxAutoRenewDuration": ("max_auto_lock_renewal_duration", renewal),
    f"{BUS}maxAutoLockRenewalDuration": ("max_auto_lock_renewal_duration", renewal),
    f"{BUS}maxConcurrentCalls": ("max_concurrent_calls", partial(whole_number, least=1)),
    f"{BUS}maxConcurrentSessions": ("max_concurrent_sessions", partial(whole_number, least=1)),
    f"{BUS}maxMessageBatchSize": ("max_message_batch_size", partial(whole_number, least=1)),
    f"{BUS}sessionIdleTimeout": ("session_idle_timeout", timespan),
    f"{BUS}prefetchCount": ("prefetch_count", whole_number),
    f"{BUS}transportType": ("transport_type", transport),
    f"{BUS}webProxy": ("web_proxy", proxy),
}
"""The options by their paths; of two for one option the later counts, as in extension 5, which reads its layout before 5 first
(azure-sdk-for-net, `ServiceBusHostBuilderExtensions`)."""
