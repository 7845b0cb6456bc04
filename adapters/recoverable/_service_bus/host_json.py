"""Read from host.json how long an invocation may wait or retry in place."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recoverable._limits import NO_DELAY
from recoverable._service_bus.app_settings import find_setting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

DEFAULT = timedelta(minutes=5)
"""What `functionTimeout` (in the Consumption plan) and `maxAutoLockRenewalDuration` are where host.json does not say (host.json
reference)."""

MARGIN = timedelta(seconds=30)
"""Time of an invocation that is kept for its handler and for settling."""

RETRY_IN_A_BATCH = timedelta(seconds=10)
"""For how long retries in process may start in a batch, whose locks the host does not renew."""

TIMEOUT = ("functionTimeout",)
RENEWAL = ("extensions", "serviceBus", "maxAutoLockRenewalDuration")


def longest_wait(settings: Mapping[str, str]) -> timedelta:
    """Return for how long an invocation may wait in place: as far as lock renewal and `functionTimeout` reach.

    Args:
        settings: the app settings, which say where host.json is and may replace its values.
    """
    host = read_host_json(Path(settings.get("AzureWebJobsScriptRoot", ".")) / "host.json")
    return max(min(duration_of(host, TIMEOUT, settings), duration_of(host, RENEWAL, settings)) - MARGIN, NO_DELAY)


def read_host_json(path: Path) -> Any:
    """Return what host.json says; nothing when it cannot be read, for the host then refuses the app itself."""
    try:
        return json.loads(re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.MULTILINE))
    except (OSError, ValueError):
        return {}


def duration_of(host: Any, path: tuple[str, ...], settings: Mapping[str, str]) -> timedelta:
    """Return a duration of host.json, which an app setting may replace; -1 is as long as can be."""
    value = find_setting("__".join(("AzureFunctionsJobHost", *path)), settings)
    for name in () if value else path:
        host = host.get(name) if isinstance(host, dict) else None
    text = value or host
    if text == "-1":
        return timedelta.max
    found = re.fullmatch(r"(?:(\d+)\.)?(\d+):(\d+):(\d+)(?:\.\d+)?", text) if isinstance(text, str) else None
    if found is None:
        return DEFAULT
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


def time_for_retries(settings: Mapping[str, str], *, batch: bool) -> timedelta:
    """Return for how long an invocation may start retries in process.

    It is half of the time that it may wait: a retry that takes no longer than all that was before it then ends in time.
    """
    longest = longest_wait(settings) / 2
    return min(longest, RETRY_IN_A_BATCH) if batch else longest


def countdown(clock: Callable[[], datetime], time: timedelta) -> Callable[[], float]:
    """Return a function that returns the seconds that are left of a time that begins now."""
    began = clock()

    def seconds_left() -> float:
        return (time - (clock() - began)).total_seconds()

    return seconds_left
