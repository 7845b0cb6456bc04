"""Know for how long an invocation has its message, as far as host.json says it: to wait in place, to retry there, and to send copies."""

from __future__ import annotations

import os
from datetime import timedelta
from functools import cache, cached_property
from logging import getLogger
from typing import TYPE_CHECKING

from recoverable._ladder.delivery import runs_left
from recoverable._ladder.expiry import uses_half, why_it_expires
from recoverable._ladder.policy import configured_delay
from recoverable._limits import NO_DELAY
from recoverable._observe.log import log_safely, report_half_used
from recoverable._service_bus.host_json import host_file, read_host_json
from recoverable.azure._messages import aware

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recoverable._config import Delayed
    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.settlement import Forward
    from recoverable._service_bus.host_json import HostOptions
    from recoverable.azure._processor import Processing
    from recoverable.hosting import Environment

MARGIN = timedelta(seconds=30)
"""Time of an invocation that is kept for its handler and for settling."""

LONGEST_LOCK = timedelta(minutes=5)
"""The longest `lockDuration` (Service Bus, "Message transfers, locks, and settlement")."""

LOCK_MARGIN = timedelta(seconds=5)
"""Time of a lock that may be over when the invocation begins, or that completing takes; of a short lock a tenth."""


NO_END = (
    "A handler ran for longer than locks are renewed by default, and maxAutoLockRenewalDuration has no end, or host.json cannot be read. "
    "If its lock is over, its message makes copies beside itself. Write one in host.json that is above the longest run of the handler."
)


def host_options(settings: Mapping[str, str]) -> HostOptions:
    """Return the options of host.json; log each that cannot be read, once in a process.

    Args:
        settings: the app settings, which say where host.json is and may replace its values.
    """
    host = read_host_json(host_file(settings), settings)
    for problem in host.problems:
        warn_once(f"Reading host.json failed: {problem}. Waits inside an invocation go by the default.")
    return host.options


@cache
def warn_once(text: str) -> None:
    """Log a warning about host.json, once in a process."""
    log_safely(getLogger("recoverable.settlement").warning, "%s", text)


def longest_wait(options: HostOptions) -> timedelta:
    """Return for how long an invocation may wait in place: as far as lock renewal and `functionTimeout` reach."""
    reach = min(options.function_timeout or timedelta.max, options.max_auto_lock_renewal_duration)
    return max(reach - MARGIN, NO_DELAY)


def without_margin(lock: timedelta) -> timedelta:
    """Return for how long of a lock's time copies may be sent."""
    return lock - min(LOCK_MARGIN, lock / 10)


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
        is_first = delivery.receives == 1
        if not why and uses_half(delivery, age, wait, retention=retention, is_first=is_first):
            report_half_used(delivery.message, retention)
        return why

    def why_too_large(self, _: Delivery, __: Forward) -> str:
        """Return "": a copy has room for a message that has come, if for no header of ours."""
        return ""

    def wait_in_order(self, delivery: Delivery) -> timedelta | None:
        """Return how long a message still waits here before it is handed back; None at its last delivery."""
        is_last = runs_left(delivery.receives, self._invocation.recoverability) <= 0
        return None if is_last else time_left(self._invocation)

    def why_no_copy(self) -> str:
        """Return "": a copy goes to the error queue alone, and is sent within the wait's margin."""
        return ""


class LockLease:
    """The lease on one message, without order: the host renews its lock for a time that host.json says.

    A message that outlives that is delivered again, beside itself. If it sent its copies all the same, each delivery would make copies of its own,
    and each copy again.

    Args:
        invocation: what it came in.
        environment: says for how long a host renews that has no host.json.
        lock: the queue's `lockDuration`; None where the endpoint does not say it.
        began: the invocation's begin in seconds of the clock; None for its first handler's.
    """

    def __init__(
        self, invocation: Invocation, environment: Environment, lock: timedelta | None, began: float | None
    ) -> None:
        deadline = invocation.deadline
        self._now, self._environment, self._lock = deadline.now, environment, lock
        self._began = began if began is not None else deadline.began if invocation.started else deadline.now()

    def is_lost(self, _: Delivery) -> bool:
        """Return False: each of its attempts is logged, and counts."""
        return False

    def why_not_wait(self, *_: object) -> str:
        """Return "": it does not wait, it is delivered again at once."""
        return ""

    def why_too_large(self, _: Delivery, __: Forward) -> str:
        """Return "", as `SessionLease` does."""
        return ""

    def wait_in_order(self, _: Delivery) -> None:
        """Return None: its order is not kept."""

    def seconds_left(self) -> float:
        """Return for how many seconds copies may still be sent."""
        return without_margin(self._held_for).total_seconds() - self._seconds()

    def why_no_copy(self) -> str:
        """Return why no copy may be sent any more; "" where one may, which is always where nothing says how long the lock lasts."""
        if self._held_for == timedelta.max and self._seconds() > without_margin(LONGEST_LOCK).total_seconds():
            warn_once(NO_END)
        if self.seconds_left() > 0:
            return ""
        return (
            f"The lock of the message may be over: the host renews it for {self._held_for}, and its handler has run for "
            f"{timedelta(seconds=round(self._seconds()))}. No copy is sent beside it; it is delivered again. Raise "
            "maxAutoLockRenewalDuration in host.json above the longest run of the handler."
        )

    def _seconds(self) -> float:
        return self._now() - self._began

    @cached_property
    def _held_for(self) -> timedelta:
        """Return for how long the message is locked from its receive on; `timedelta.max` where nothing says it."""
        seconds, kept = self._environment.lock_renewal, self._environment.kept
        if seconds is None and lock_renewal not in kept:
            kept[lock_renewal] = lock_renewal(os.environ)  # a process has one host.json
        renewed = kept[lock_renewal] if seconds is None else timedelta(seconds=seconds)
        return max(renewed, self._lock or NO_DELAY) or LONGEST_LOCK


def lock_renewal(settings: Mapping[str, str]) -> timedelta:
    """Return for how long the host renews a message's lock; `timedelta.max` where nothing ends that, or no host.json says it.

    Args:
        settings: the app settings.
    """
    host = read_host_json(host_file(settings), settings)
    return timedelta.max if host.document is None or host.problems else host.options.max_auto_lock_renewal_duration
