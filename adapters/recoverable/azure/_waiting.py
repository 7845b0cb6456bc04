"""Wait or retry inside an invocation, as far as host.json lets it; where sessions keep their order, a retry waits out its delay there."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from logging import getLogger
from typing import TYPE_CHECKING

from recoverable._ladder.delivery import runs_left
from recoverable._ladder.expiry import uses_half, why_it_expires
from recoverable._ladder.policy import configured_delay
from recoverable._limits import NO_DELAY
from recoverable._observe.log import log_safely, report_half_used
from recoverable._service_bus.host_json import host_file, read_host_json
from recoverable.azure._messages import aware, delivered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recoverable._config import Delayed
    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._service_bus.host_json import HostOptions
    from recoverable.azure._processor import Processing
    from recoverable.hosting import Environment

MARGIN = timedelta(seconds=30)
"""Time of an invocation that is kept for its handler and for settling."""


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
    text = "Reading host.json failed: %s. Waits inside an invocation go by the default."
    log_safely(getLogger("recoverable.settlement").warning, text, problem)


def longest_wait(options: HostOptions) -> timedelta:
    """Return for how long an invocation may wait in place: as far as lock renewal and `functionTimeout` reach."""
    reach = min(options.function_timeout or timedelta.max, options.max_auto_lock_renewal_duration)
    return max(reach - MARGIN, NO_DELAY)


def time_here(environment: Environment, longest: timedelta) -> timedelta:
    """Return for how long an invocation may wait in place, where its host may end it sooner than host.json says."""
    timeout = environment.function_timeout
    return longest if timeout is None else max(min(longest, timedelta(seconds=timeout) - MARGIN), NO_DELAY)


def check_delays(delayed: Delayed, longest: timedelta) -> None:
    """Check that an invocation can wait out each configured delay.

    Raises:
        ValueError: it cannot.
    """
    delays = [configured_delay(delayed, number, "") for number in range(delayed.max_retries)]
    if delays and max(delays) > longest:
        raise ValueError(
            f'ServiceBusEndpoint(sessions="ordered") waits out each delay inside the invocation, for {longest} at most as host.json has '
            f"functionTimeout and maxAutoLockRenewalDuration, and Delayed(...) has a delay of {max(delays)}; "
            "write shorter delays, or raise both in host.json"
        )


def wait_in_place(delay: timedelta, work: Processing) -> None:
    """Wait out a delay, or as much of it as the invocation has time for."""
    seconds = min(delay, time_left(work.invocation)).total_seconds()
    if seconds > 0:
        work.environment.sleep(seconds)


def time_left(invocation: Invocation) -> timedelta:
    """Return for how long a message may still wait in its place."""
    return timedelta(seconds=max(invocation.seconds_in_place() if invocation.seconds_in_place else 0.0, 0.0))


class SessionLease:
    """The lease on a message of a session that keeps its order: it waits inside the invocation, and each hand-back is a delivery.

    Args:
        invocation: what it came in.
    """

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation

    def is_lost(self, _: Delivery) -> bool:
        """Return False: the host renews the lock of the session."""
        return False

    def why_not_wait(self, delivery: Delivery, after: timedelta | None) -> str:
        """Return why a message would expire before it is seen again; "" where it would not, or nothing says when. Warn when half of its time is used."""
        began, ends = aware(delivery.native.enqueued_time_utc), aware(delivery.native.expires_at_utc)
        if began is None or ends is None:
            return ""
        age, retention = self._invocation.clock() - began, ends - began
        wait = min(after or NO_DELAY, time_left(self._invocation))
        why = why_it_expires(delivery, age, wait, retention=retention, invocation=NO_DELAY)
        is_first = delivered(delivery.native.delivery_count) == 1
        if not why and uses_half(delivery, age, wait, retention=retention, is_first=is_first):
            report_half_used(delivery.message, retention)
        return why

    def wait_in_order(self, delivery: Delivery) -> timedelta | None:
        """Return how long a message still waits here before it is handed back; None at its last delivery."""
        deliveries = delivered(delivery.native.delivery_count)
        is_last = runs_left(deliveries, self._invocation.recoverability) <= 0
        return None if is_last else time_left(self._invocation)
