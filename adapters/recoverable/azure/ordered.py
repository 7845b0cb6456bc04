"""Keep the order of sessions: a message is only ever redelivered, and the last attempt of a round waits out the delay in place."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recoverable.azure.settings import find_setting
from recoverable.headers import REFUSED_SENDS, read_count
from recoverable.limits import NO_DELAY
from recoverable.message import place
from recoverable.recovery import counting

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from recoverable.config import Delayed, Recoverability
    from recoverable.environment import Environment
    from recoverable.recovery.delivery import Delivery

DEFAULT = timedelta(minutes=5)
"""What `functionTimeout` (in the Consumption plan) and `maxAutoLockRenewalDuration` are where host.json does not say (host.json
reference)."""

MARGIN = timedelta(seconds=30)
"""Time of an invocation that is kept for its handler and for settling."""

TIMEOUT = ("functionTimeout",)
RENEWAL = ("extensions", "serviceBus", "maxAutoLockRenewalDuration")


def restore_place(delivery: Delivery, recoverability: Recoverability) -> None:
    """Restore round and attempt from the broker's count, which alone says them."""
    ladder = {"max_immediate": recoverability.immediate.max_retries, "max_delayed": recoverability.delayed.max_retries}
    delivery.given_up = read_count(delivery.message.headers, REFUSED_SENDS) > 0
    delivery.unreported = counting.is_past_the_ladder(delivery.deliveries, **ladder)
    round_, attempt = counting.place_on_ladder(delivery.deliveries, **ladder)
    place(delivery.message, round=round_, attempt=attempt)
    delivery.deliveries = attempt


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


def check_delays(delayed: Delayed, longest: timedelta) -> None:
    """Check that an invocation can wait out each configured delay.

    Raises:
        ValueError: it cannot.
    """
    from recoverable.recovery.policy import configured_delay  # noqa: PLC0415  # for ordered sessions alone

    delays = [configured_delay(delayed, number, "") for number in range(delayed.max_retries)]
    if delays and max(delays) > longest:
        raise ValueError(
            f'ServiceBusEndpoint(sessions="ordered") waits out each delay inside the invocation, for {longest} at most as host.json has '
            f"functionTimeout and maxAutoLockRenewalDuration, and Delayed(...) has a delay of {max(delays)}; "
            "write shorter delays, or raise both in host.json"
        )


def wait_in_place(delay: timedelta, *, environment: Environment, until: datetime) -> None:
    """Wait out a delay, or as much of it as the invocation has time for.

    Args:
        delay: the delay.
        environment: has the clock and what waits.
        until: the latest time at which the message must be abandoned.
    """
    seconds = min(delay, until - environment.clock()).total_seconds()
    if seconds > 0:
        environment.sleep(seconds)
