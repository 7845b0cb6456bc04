"""Bound how long an invocation may wait or retry in place, by what host.json lets it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from recoverable._limits import NO_DELAY
from recoverable._service_bus.host_json import read_host_json
from recoverable.azure._log import log_host_problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from recoverable._service_bus.host_json import HostOptions

MARGIN = timedelta(seconds=30)
"""Time of an invocation that is kept for its handler and for settling."""

RETRY_IN_A_BATCH = timedelta(seconds=10)
"""For how long retries in process may start in a batch, whose locks the host does not renew."""


def host_options(settings: Mapping[str, str]) -> HostOptions:
    """Return the options of host.json; log each that cannot be read, once in a process.

    Args:
        settings: the app settings, which say where host.json is and may replace its values.
    """
    host = read_host_json(Path(settings.get("AzureWebJobsScriptRoot", ".")) / "host.json", settings)
    for problem in host.problems:
        log_host_problem(problem)
    return host.options


def longest_wait(options: HostOptions) -> timedelta:
    """Return for how long an invocation may wait in place: as far as lock renewal and `functionTimeout` reach."""
    reach = min(options.function_timeout or timedelta.max, options.max_auto_lock_renewal_duration)
    return max(reach - MARGIN, NO_DELAY)


def time_for_retries(options: HostOptions, *, batch: bool) -> timedelta:
    """Return for how long an invocation may start retries in process.

    It is half of the time that it may wait: a retry that takes no longer than all that was before it then ends in time.
    """
    longest = longest_wait(options) / 2
    return min(longest, RETRY_IN_A_BATCH) if batch else longest


def countdown(clock: Callable[[], datetime], time: timedelta) -> Callable[[], float]:
    """Return a function that returns the seconds that are left of a time that begins now."""
    began = clock()

    def seconds_left() -> float:
        return (time - (clock() - began)).total_seconds()

    return seconds_left
