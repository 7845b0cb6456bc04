"""Define `Dispatcher`: hand timeouts to SQS shortly before they are due, and raise a critical error when the store is unavailable for long.

A run goes shard by shard and page by page. It sends and then marks, and sets aside what cannot be sent.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from recoverable._errors import StoreUnavailable
from recoverable._ladder.faults import Redact
from recoverable._limits import checked_delay, checked_function
from recoverable._observe.log import log_safely
from recoverable._sqs.batches import batches
from recoverable._sqs.queues import LONGEST_DELAY
from recoverable._sqs.sender import Sender, shared_sender
from recoverable.hosting import current_environment, utc_clock
from recoverable.hosting import now as utc_now
from recoverable.timeouts._sending import SendRequest, to_send_request
from recoverable.timeouts._shards import Claim
from recoverable.timeouts._store import Kept, Row, Store, checked_store
from recoverable.timeouts._timeout import from_microseconds

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

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

CHUNK = 25
"""Timeouts that are sent before they are marked: a crash in between sends at most these twice. DynamoDB marks 25 at once (BatchWriteItem)."""

KEEP_AFTER = timedelta(hours=1)
"""A timeout that is overdue by more than this, and whose queue does not answer, is set aside, so that its minute need not be read again and again."""

AT_ONCE = timedelta(0)
"""The time after which such a timeout is tried again: when a run next reads what is set aside."""


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
                text = "on_critical raised %s; the critical error is raised all the same"
                log_safely(log.error, text, type(failure).__name__)
        raise critical from (error if self._redact is None else None)


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one run.

    Args:
        dispatched: the number of timeouts handed to SQS.
        kept: the number that could not be dispatched and were set aside.
        postponed: the number left for the next run.
        behind: the seconds by which the most overdue of the dispatched ones was late.
        finished: True if all that was due was read; otherwise the time ran out or the store failed, and the next run goes on.
    """

    dispatched: int = 0
    kept: int = 0
    postponed: int = 0
    behind: float = 0.0
    finished: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a dispatcher, as its runs need them; see `Dispatcher`."""

    store: Store
    ahead: timedelta
    lease: timedelta
    retry_kept: timedelta
    redact: Redact | None


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
        self._settings = Settings(
            store=checked_store("Dispatcher", store),
            ahead=checked_delay("Dispatcher(ahead)", ahead, LONGEST_DELAY),
            lease=checked_delay("Dispatcher(lease)", lease),
            retry_kept=checked_delay("Dispatcher(retry_kept)", retry_kept),
            redact=redact,
        )
        if lease < LEAST_LEASE:
            raise ValueError(f"Dispatcher(lease) is {lease}; write a timedelta of a second or more")
        self._reserve = checked_delay("Dispatcher(settle_within)", settle_within).total_seconds()
        self._clock, self._sleep = utc_clock(clock), sleep
        self._sender, self._unmarked = shared_sender(client), set[str]()
        if redact is not None:
            checked_function("Dispatcher(redact)", redact, "a function from text to text")
        self._circuit = Circuit(critical_after, on_critical, redact)

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
        run = Run(self._settings, sender, clock, has_time=has_time, unmarked=self._unmarked)
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


class Run:
    """One run of a dispatcher.

    Args:
        settings: the dispatcher's.
        sender: sends the timeouts.
        clock: returns the time.
        has_time: returns True if there is time to start another chunk.
        unmarked: the ids of timeouts that were sent and could not be marked; they are marked, and not sent again.
    """

    def __init__(
        self,
        settings: Settings,
        sender: Sender,
        clock: Callable[[], datetime],
        *,
        has_time: Callable[[], bool],
        unmarked: set[str],
    ) -> None:
        self._settings, self._store, self._sender, self._clock = settings, settings.store, sender, clock
        self.has_time, self._unmarked = has_time, unmarked
        self._owner = token_hex(8)
        self._check_lease_at = clock()
        self._failing: dict[str, str] = {}
        self.report = Report()

    def dispatch_all_shards(self) -> bool:
        """Dispatch what is due in each shard that no other dispatcher has claimed. Return True if all of it was read."""
        first, shards = int(self._owner, 16), self._store.shards
        finished = True
        for n in range(shards):
            finished &= self.has_time() and self._dispatch_shard((first + n) % shards)
        return finished

    def _dispatch_shard(self, shard: int) -> bool:
        now = self._clock()
        until, horizon = now + self._settings.lease, now + self._settings.ahead
        claim = self._store.claim(shard, self._owner, now=now, until=until, horizon=horizon)
        if claim is None:
            return True
        self._check_lease_at = now + self._settings.lease / 2
        finished = True
        for number, page in enumerate(self._store.due(claim)):
            finished = (number == 0 or self._renew(claim)) and self._dispatch_page(claim, page)
            if not finished:
                break
        self._store.release(claim)
        return finished

    def _renew(self, claim: Claim) -> bool:
        """Renew the lease. Return True if the shard is still ours."""
        now = self._clock()
        self._check_lease_at = now + self._settings.lease / 2
        return self._store.renew(claim, until=now + self._settings.lease)

    def _dispatch_page(self, claim: Claim, page: Sequence[Row]) -> bool:
        """Dispatch a page while there is time and the lease lasts; True if all of it was done. Stores yield empty pages to have the time checked."""
        if not page:
            return self.has_time()
        for start in range(0, len(page), CHUNK):
            if not (self.has_time() and (self._clock() < self._check_lease_at or self._renew(claim))):
                return False
            self._dispatch_chunk(claim, page[start : start + CHUNK])
        return True

    def _dispatch_chunk(self, claim: Claim, rows: Sequence[Row]) -> None:
        """Send a chunk, then mark it. A crash in between sends the chunk twice, and loses nothing."""
        now = self._clock()
        fresh = [row for row in rows if row.id not in self._unmarked]
        made = [to_send_request(row, row.timeout, now) for row in fresh if row.timeout]
        ready = [each for each in made if each is not None]
        sent, refused = self._send(ready)
        claim.unconfirmed = claim.unconfirmed or len(sent) + len(refused) < len(ready)
        sent += [row for row in rows if row.id in self._unmarked]
        refused += [Kept(row, row.problem) for row in fresh if row.timeout is None]
        given_up = self._failing_for_long(ready, {row.id for row in sent} | {each.row.id for each in refused}, now)
        self._mark(sent, now)
        self._keep(claim, refused, now, self._settings.retry_kept)
        self._keep(claim, given_up, now, AT_ONCE)
        self._count(rows, sent, [*refused, *given_up], now)

    def _send(self, ready: Sequence[SendRequest]) -> tuple[list[Row], list[Kept]]:
        """Send to the queues that answer. Return what was sent, and what was refused for good."""
        sent: list[Row] = []
        refused: list[Kept] = []
        for batch in batches(each for each in ready if each.to not in self._failing):
            outcome = self._sender.send(batch[0].to, [each.entry for each in batch])
            sent += [batch[n].row for n in outcome.sent]
            refused += [Kept(batch[n].row, reason) for n, reason in outcome.refused.items()]
            if outcome.failed:
                self._skip_queue(batch[0].to, outcome.failed)
        return sent, refused

    def _skip_queue(self, to: str, why: str) -> None:
        """Skip a queue that does not answer for the rest of this run: it must not use up the time of other queues."""
        self._failing[to] = why
        text = "SQS SendMessageBatch failed for timeouts for '%s': %s. They stay stored, and the next run sends them."
        log_safely(log.warning, text, to, why, redact=self._settings.redact)

    def _failing_for_long(self, ready: Sequence[SendRequest], done: set[str], now: datetime) -> list[Kept]:
        """Return what could not be sent for so long that it must be set aside: the store's watermark must not wait for it."""
        return [
            Kept(each.row, self._failing[each.to])
            for each in ready
            if each.to in self._failing
            and each.row.id not in done
            and not each.row.kept
            and overdue(each.row, now) > KEEP_AFTER
        ]

    def _mark(self, sent: Sequence[Row], now: datetime) -> None:
        """Mark what was sent. The ids of what could not be marked are remembered while this process lives, and not sent again."""
        if sent:
            ids = {row.id for row in sent}
            self._unmarked |= ids
            self._store.mark_dispatched(sent, now=now)
            self._unmarked -= ids

    def _keep(self, claim: Claim, kept: Sequence[Kept], now: datetime, retry_in: timedelta) -> None:
        """Set aside what cannot be sent now. A run tries it again when its horizon reaches that time."""
        if kept:
            self._store.keep(claim, kept, retry_at=from_microseconds(claim.horizon) + retry_in)
            for each in kept:
                to = each.row.timeout.to if each.row.timeout else "?"
                text = "Timeout '%s' for '%s' cannot be dispatched: %s. It is kept, and tried again after %s."
                extra = {"timeout_id": each.row.id, "queue": to}
                facts = (each.row.id, to, each.reason, (now + retry_in).isoformat(timespec="seconds"))
                log_safely(log.error, text, *facts, extra=extra, redact=self._settings.redact)

    def _count(self, rows: Sequence[Row], sent: Sequence[Row], kept: Sequence[Kept], now: datetime) -> None:
        late = [overdue(row, now).total_seconds() for row in sent if row.timeout]
        report = self.report
        self.report = replace(
            report,
            dispatched=report.dispatched + len(sent),
            kept=report.kept + len(kept),
            postponed=report.postponed + len(rows) - len(sent) - len(kept),
            behind=max([report.behind, *late]),
        )


def overdue(row: Row, now: datetime) -> timedelta:
    """Return for how long a row has been due; negative before it is due."""
    assert row.timeout is not None, row.id
    return now - row.timeout.due_at
