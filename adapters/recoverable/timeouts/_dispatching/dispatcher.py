"""Define `Dispatcher`: hand timeouts to SQS shortly before they are due, with the remaining delay, and then mark them as dispatched."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from recoverable._environment import current_environment, utc_clock
from recoverable._environment import now as utc_now
from recoverable._limits import checked_delay, checked_function
from recoverable._sqs.sender import Sender
from recoverable.timeouts._client import shared_sender
from recoverable.timeouts._dispatching.outage import TWO_MINUTES, Circuit, OnCritical
from recoverable.timeouts._dispatching.report import Report, log_report
from recoverable.timeouts._dispatching.run import Run, Timing
from recoverable.timeouts._stores.port import Store
from recoverable.timeouts._stores.rows import StoreUnavailable
from recoverable.timeouts._stores.settings import checked_lease, checked_store

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

    from recoverable._ladder.redaction import Redact

log = logging.getLogger("recoverable.timeouts")

AHEAD = timedelta(minutes=2)
"""A run dispatches what is due within this time: enough for a run each minute, of which one fails."""

LEASE = timedelta(seconds=60)
"""How long a dispatcher claims a shard. It renews the lease before each page, and when half of it is over, and so learns when it has lost the shard."""

RETRY_KEPT = timedelta(hours=1)
"""The time after which a timeout that could not be dispatched is tried again."""

MOST_AHEAD = timedelta(minutes=15)
"""The longest delay of SQS (Amazon SQS delay queues)."""

PAUSE = 1.0
"""Seconds between two tries of a store that does not answer (NServiceBus, RepeatedFailuresOverTimeCircuitBreaker)."""


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
        redact: a function from text to text, which what SQS and the store say passes before it is logged, for that may quote a message;
            see `Observe`.

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
            ahead=checked_delay("Dispatcher(ahead)", ahead, MOST_AHEAD),
            lease=checked_lease("Dispatcher(lease)", lease),
            retry_kept=checked_delay("Dispatcher(retry_kept)", retry_kept),
        )
        self._reserve = checked_delay("Dispatcher(settle_within)", settle_within).total_seconds()
        self._store: Store = checked_store("Dispatcher", store)
        self._clock, self._sleep = utc_clock(clock), sleep
        self._sender, self._unmarked = Sender(client), set[str]()
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
        environment = current_environment.get()
        sender = self._sender if environment is None else shared_sender(environment.client)
        clock, sleep = (self._clock, self._sleep) if environment is None else (environment.clock, environment.sleep)
        run = Run(
            self._store, sender, clock, self._timing, has_time=self._has_time(seconds_left), unmarked=self._unmarked,
            redact=self._redact,
        )  # fmt: skip
        while run.has_time():
            try:
                finished = run.dispatch_all_shards()
            except StoreUnavailable as error:
                self._circuit.failed(error, clock())
                sleep(PAUSE)
            else:
                self._circuit.succeeded()
                return log_report(replace(run.report, finished=finished))
        return log_report(run.report)

    def _has_time(self, seconds_left: Callable[[], float] | None) -> Callable[[], bool]:
        return lambda: seconds_left is None or seconds_left() > self._reserve
