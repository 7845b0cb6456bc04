"""Watch for an unavailable store, with NServiceBus's circuit breaker and log texts; raise a critical error when an outage lasts."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from recoverable._ladder.redaction import Redact
from recoverable._limits import checked_delay
from recoverable._observe.log import log_safely

log = logging.getLogger("recoverable.timeouts")

NAME = "TimeoutStorageConnectivity"
CRITICAL = "Repeated failures when fetching timeouts from storage, endpoint will be terminated."

TWO_MINUTES = timedelta(minutes=2)
"""The time for which a store may be unavailable (NServiceBus, TimeToWaitBeforeTriggeringCriticalErrorOnTimeoutOutages)."""


class CriticalError(Exception):
    """Raised when the store has been unavailable for too long: the function fails, so that its alarm fires."""


CriticalError.__module__ = "recoverable.timeouts.circuit"  # the name under which it has always been logged


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
