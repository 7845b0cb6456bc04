"""Define `Dispatcher`: hand timeouts to SQS shortly before they are due, and raise a critical error when the store is unavailable for long."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from recoverable._errors import StoreUnavailable
from recoverable._limits import checked_delay, checked_function
from recoverable._observe.log import log_safely
from recoverable._sqs.queues import LONGEST_DELAY
from recoverable._sqs.sender import shared_sender
from recoverable.hosting import current_environment, utc_clock
from recoverable.hosting import now as utc_now
from recoverable.timeouts._dispatcher_run import Report, Run, Timing
from recoverable.timeouts._store import Store, checked_store

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

    from recoverable._ladder.faults import Redact

log = logging.getLogger("recoverable.timeouts")

AHEAD = timedelta(minutes=2)
"""A run dispatches what is due within this time: enough for a run each minute, of which one fails."""

LEASE = timedelta(seconds=60)
"""How long a dispatcher claims a shard. It renews the lease before each page, and when half of it is over, and so learns when it has lost the shard."""

RETRY_KEPT = timedelta(hours=1)
"""The time after which a timeout that could not be dispatched is tried again."""

LEAST_LEASE = timedelta(seconds=1)
"""A shorter lease ends before a page is sent, and then several dispatchers work on one shard."""

PAUSE = 1.0
"""Seconds between two tries of a store that does not answer (NServiceBus, RepeatedFailuresOverTimeCircuitBreaker)."""

TWO_MINUTES = timedelta(minutes=2)
"""The time for which a store may be unavailable (NServiceBus, TimeToWaitBeforeTriggeringCriticalErrorOnTimeoutOutages)."""

NAME = "TimeoutStorageConnectivity"
CRITICAL = "Repeated failures when fetching timeouts from storage, endpoint will be terminated."


class CriticalError(Exception):
    """Raised when the store has been unavailable for too long: the function fails, so that its alarm fires."""

    __module__ = "recoverable.timeouts"  # the name under which users import it


OnCritical = Callable[[CriticalError], object]


class Circuit:
    """The circuit breaker of one instance. It counts no failures, but the time since the first one, over all runs of the instance.

    Args:
        critical_after: how long the store may be unavailable.
        on_critical: called with the error before it is raised.
        redact: the user's redactor, which the store's own words pass; the critical error then has no cause.
    """

    def __init__(
        self,
        critical_after: timedelta = TWO_MINUTES,
        on_critical: OnCritical | None = None,
        redact: Redact | None = None,
    ) -> None:
        if not checked_delay("critical_after", critical_after):
            raise ValueError("critical_after is 0; write how long the store may be unavailable, such as 2 minutes")
        self._critical_after, self._on_critical, self._redact = critical_after, on_critical, redact
        self.armed_since: datetime | None = None

    def succeeded(self) -> None:
        """Disarm the circuit breaker: the store answered."""
        if self.armed_since is not None:
            self.armed_since = None
            log_safely(log.info, "The circuit breaker for %s is now disarmed", NAME)

    def failed(self, error: Exception, now: datetime) -> None:
        """Arm the circuit breaker: the store did not answer.

        Raises:
            CriticalError: it has not answered for too long.
        """
        log_safely(log.warning, "Failed to fetch timeouts from the timeout storage: %s", error, redact=self._redact)
        if self.armed_since is None:
            self.armed_since = now
            log_safely(log.warning, "The circuit breaker for %s is now in the armed state", NAME)
        if now - self.armed_since >= self._critical_after:
            self._trigger(error)

    def _trigger(self, error: Exception) -> None:
        log_safely(log.warning, "The circuit breaker for %s will now be triggered", NAME)
        critical = CriticalError(CRITICAL)
        log_safely(log.critical, "%s", CRITICAL)
        if self._on_critical:
            try:
                self._on_critical(critical)
            except Exception as failure:  # noqa: BLE001  # the critical error must be raised whatever its hook does
                log_safely(
                    log.error,
                    "on_critical raised %s; the critical error is raised all the same",
                    type(failure).__name__,
                )
        raise critical from (error if self._redact is None else None)


class Dispatcher:
    """A Lambda handler that dispatches the timeouts of a store. Call it each minute. Several may run at once.

    Args:
        store: the store of the timeouts.
        client: a boto3 SQS client, instead of one for each region, made when it is needed.
        clock: returns the time; without a zone, that of the machine.
        sleep: waits for so many seconds.
        ahead: a run hands to SQS what is due within this time, at most 15 minutes. It must be longer than the time between two runs.
        lease: how long a shard is claimed at a time, a second or more.
        retry_kept: the time after which a timeout that could not be dispatched is tried again.
        critical_after: how long the store may be unavailable before a `CriticalError`.
        on_critical: called with the `CriticalError` before it is raised.
        settle_within: the last part of an invocation's time, in which no work is started.
        redact: a function from text to text. The answers of SQS and the store pass it before they are logged, because they may quote a
            message; see `Observe`.

    Raises:
        TypeError: a store that is none, a duration that is no timedelta, or a redactor that is no plain function.
        ValueError: a duration out of range.
    """

    def __init__(
        self,
        store: Store,
        *,
        client: SQSClient | None = None,
        clock: Callable[[], datetime] = utc_now,
        sleep: Callable[[float], object] = time.sleep,
        ahead: timedelta = AHEAD,
        lease: timedelta = LEASE,
        retry_kept: timedelta = RETRY_KEPT,
        critical_after: timedelta = TWO_MINUTES,
        on_critical: OnCritical | None = None,
        settle_within: timedelta = timedelta(seconds=10),
        redact: Redact | None = None,
    ) -> None:
        self._timing = Timing(
            ahead=checked_delay("Dispatcher(ahead)", ahead, LONGEST_DELAY),
            lease=checked_delay("Dispatcher(lease)", lease),
            retry_kept=checked_delay("Dispatcher(retry_kept)", retry_kept),
        )
        if lease < LEAST_LEASE:
            raise ValueError(f"Dispatcher(lease) is {lease}; write a timedelta of a second or more")
        self._reserve = checked_delay("Dispatcher(settle_within)", settle_within).total_seconds()
        self._store: Store = checked_store("Dispatcher", store)
        self._clock, self._sleep = utc_clock(clock), sleep
        self._sender, self._unmarked = shared_sender(client), set[str]()
        if redact is not None:
            checked_function("Dispatcher(redact)", redact, "a function from text to text")
        self._redact, self._circuit = redact, Circuit(critical_after, on_critical, redact)

    def __call__(self, _event: object = None, context: Any = None) -> dict[str, Any]:
        """Run once, within the time of the Lambda invocation.

        Args:
            _event: the schedule's event; not used.
            context: Lambda's context. Without one there is no time limit.

        Raises:
            CriticalError: the store has been unavailable for too long.
        """
        left = getattr(context, "get_remaining_time_in_millis", None)
        return asdict(self.run(None if left is None else lambda: left() / 1000))

    def run(self, seconds_left: Callable[[], float] | None = None) -> Report:
        """Dispatch what is due. While there is time, a store that does not answer is asked again each second.

        Args:
            seconds_left: how long the invocation still lasts; None for no limit.

        Raises:
            CriticalError: the store has been unavailable for too long.
        """

        def has_time() -> bool:
            return seconds_left is None or seconds_left() > self._reserve

        environment = current_environment.get()
        sender = self._sender if environment is None else shared_sender(environment.client)
        clock, sleep = (self._clock, self._sleep) if environment is None else (environment.clock, environment.sleep)
        run = Run(
            self._store, sender, clock, self._timing, has_time=has_time, unmarked=self._unmarked,
            redact=self._redact,
        )  # fmt: skip
        while has_time():
            try:
                finished = run.dispatch_all_shards()
            except StoreUnavailable as error:
                self._circuit.failed(error, clock())
                sleep(PAUSE)
            else:
                self._circuit.succeeded()
                return log_report(replace(run.report, finished=finished))
        return log_report(run.report)


def log_report(report: Report) -> Report:
    """Log the report if there was anything to dispatch or the run did not finish, and return it."""
    if report.dispatched or report.kept or report.postponed or not report.finished:
        text = "Dispatched %d timeouts, kept %d, postponed %d; at most %.1f s overdue; %s"
        end = "all that was due was read" if report.finished else "not finished: the next run goes on"
        facts = (report.dispatched, report.kept, report.postponed, report.behind, end)
        log_safely(log.info, text, *facts, extra=asdict(report))
    return report
