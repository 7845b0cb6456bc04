"""Wait or retry inside an invocation, as far as host.json lets it; where sessions keep their order, a retry waits out its delay there."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from logging import getLogger
from typing import TYPE_CHECKING

from recoverable._limits import NO_DELAY
from recoverable._service_bus.host_json import host_file, read_host_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recoverable._config import Delayed
    from recoverable._service_bus.host_json import HostOptions
    from recoverable.azure._processor import Processing

MARGIN = timedelta(seconds=30)
"""Time of an invocation that is kept for its handler and for settling."""

RETRY_IN_A_BATCH = timedelta(seconds=10)
"""For how long retries in process may start in a batch, whose locks the host does not renew."""


def host_options(settings: Mapping[str, str]) -> HostOptions:
    """Return the options of host.json; log each that cannot be read, once in a process.

    Args:
        settings: the app settings, which say where host.json is and may replace its values.
    """
    host = read_host_json(host_file(settings), settings)
    for problem in host.problems:
        log_host_problem(problem)
    return host.options


@cache
def log_host_problem(problem: str) -> None:
    """Log what the Functions host would not take from host.json."""
    from recoverable._observe.log import log_safely  # noqa: PLC0415  # the failure side

    text = "Reading host.json failed: %s. Waits inside an invocation go by the default."
    log_safely(getLogger("recoverable.settlement").warning, text, problem)


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


def check_delays(delayed: Delayed, longest: timedelta) -> None:
    """Check that an invocation can wait out each configured delay.

    Raises:
        ValueError: it cannot.
    """
    from recoverable._ladder.policy import configured_delay  # noqa: PLC0415  # for ordered sessions alone

    delays = [configured_delay(delayed, number, "") for number in range(delayed.max_retries)]
    if delays and max(delays) > longest:
        raise ValueError(
            f'ServiceBusEndpoint(sessions="ordered") waits out each delay inside the invocation, for {longest} at most as host.json has '
            f"functionTimeout and maxAutoLockRenewalDuration, and Delayed(...) has a delay of {max(delays)}; "
            "write shorter delays, or raise both in host.json"
        )


def wait_in_place(delay: timedelta, work: Processing) -> None:
    """Wait out a delay, or as much of it as the invocation has time for."""
    seconds = min(delay.total_seconds(), work.seconds_in_place())
    if seconds > 0:
        work.environment.sleep(seconds)
