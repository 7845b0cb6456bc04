"""`Dispatcher`: takes what is due before its next run, and hands it to SQS with the delay that is left: send, then mark."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from ..attempt import now as utc_now
from ..limits import checked_delay
from ..observe import written
from .circuit import TWO_MINUTES, Circuit, OnCritical
from .client import Outcome, Sender
from .ids import moment
from .port import Store
from .sending import Outgoing, batches, outgoing
from .store import Claim, Kept, Row, StoreUnavailable

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

log = logging.getLogger("recoverable.timeouts")

AHEAD = timedelta(minutes=2)
"""What is due within this is dispatched: a run each minute, and one that fails."""

LEASE = timedelta(seconds=60)
"""How long a shard is a dispatcher's own; it asks for as much again before each page, and so learns when it has lost it."""

RETRY_KEPT = timedelta(hours=1)
"""When what could not be dispatched is tried again."""

MOST_AHEAD = timedelta(minutes=15)
"""SQS delays a message no longer (Amazon SQS delay queues)."""

CHUNK = 25
"""Timeouts sent before they are marked: what a death in between sends twice at most. DynamoDB marks 25 at once (BatchWriteItem)."""

PAUSE = 1.0
"""Seconds between two looks at a store that does not answer (NServiceBus, RepeatedFailuresOverTimeCircuitBreaker)."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a run did.

    Args:
        dispatched: how many were handed to SQS.
        kept: how many could not be, and were set aside.
        postponed: how many were left for the next run.
        behind: seconds by which the latest of them was overdue.
        finished: whether all that was due was seen; else time or the store gave out, and the next run goes on.
    """

    dispatched: int = 0
    kept: int = 0
    postponed: int = 0
    behind: float = 0.0
    finished: bool = False


class Dispatcher:
    """Dispatches the timeouts of a store; a Lambda handler, to be called each minute. Several may run at once.

    Args:
        store: where they wait.
        client: a boto3 SQS client, instead of one for each region, made when it is needed.
        clock: gives the time, aware of its zone.
        sleep: lets seconds pass.
        ahead: what is due within this is handed to SQS, up to 15 minutes; more than the time between two runs.
        lease: how long a shard is reserved at a time.
        retry_kept: when what could not be dispatched is tried again.
        critical_after: how long the store may be unavailable.
        on_critical: called with the `CriticalError` before it is raised.
        settle_within: the part of an invocation's time in which nothing is begun.

    Raises:
        TypeError: a duration that is none.
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
    ) -> None:
        self._ahead = checked_delay("Dispatcher(ahead)", ahead, MOST_AHEAD)
        self._lease = checked_delay("Dispatcher(lease)", lease)
        self._retry_kept = checked_delay("Dispatcher(retry_kept)", retry_kept)
        self._reserve = checked_delay("Dispatcher(settle_within)", settle_within).total_seconds()
        self._store, self._clock, self._sleep = store, clock, sleep
        self._sender = Sender(client)
        self._circuit = Circuit(critical_after, on_critical)

    def __call__(self, _event: object = None, context: Any = None) -> dict[str, Any]:
        """Lambda's door: one run within the invocation's time.

        Args:
            _event: what the schedule sends; it says nothing.
            context: Lambda's; without one there is no time limit.

        Raises:
            CriticalError: the store has been unavailable for too long.
        """
        left = getattr(context, "get_remaining_time_in_millis", None)
        return asdict(self.run(None if left is None else lambda: left() / 1000))

    def run(self, seconds_left: Callable[[], float] | None = None) -> Report:
        """Dispatch what is due; a store that does not answer is asked again each second while there is time.

        Args:
            seconds_left: how long the invocation still lasts; None for no limit.

        Raises:
            CriticalError: the store has been unavailable for too long.
        """
        run = Run(self._store, self._sender, self._clock, self._has_time(seconds_left))
        while run.has_time():
            try:
                finished = run.all_shards(self._ahead, self._lease, self._retry_kept)
            except StoreUnavailable as error:
                self._circuit.failed(error, self._clock())
                self._sleep(PAUSE)
            else:
                self._circuit.succeeded()
                return told(replace(run.report, finished=finished))
        return told(run.report)

    def _has_time(self, seconds_left: Callable[[], float] | None) -> Callable[[], bool]:
        return lambda: seconds_left is None or seconds_left() > self._reserve


class Run:
    """One run of a dispatcher.

    Args:
        store: where the timeouts wait.
        sender: sends them.
        clock: gives the time.
        has_time: whether another chunk can still be begun.
    """

    def __init__(
        self, store: Store, sender: Sender, clock: Callable[[], datetime], has_time: Callable[[], bool]
    ) -> None:
        self._store, self._sender, self._clock, self.has_time = store, sender, clock, has_time
        self._owner = token_hex(8)
        self._failing: set[str] = set()
        self.report = Report()

    def all_shards(self, ahead: timedelta, lease: timedelta, retry_kept: timedelta) -> bool:
        """Dispatch what is due in each shard that nobody else works on; whether all was seen."""
        first, shards = int(self._owner, 16), self._store.shards
        finished = True
        for n in range(shards):
            finished &= self.has_time() and self._shard((first + n) % shards, ahead, lease, retry_kept)
        return finished

    def _shard(self, shard: int, ahead: timedelta, lease: timedelta, retry_kept: timedelta) -> bool:
        now = self._clock()
        claim = self._store.claim(shard, self._owner, now=now, until=now + lease, horizon=now + ahead)
        if claim is None:
            return True
        finished = True
        for number, page in enumerate(self._store.due(claim)):
            if number and not self._store.renew(claim, until=self._clock() + lease):
                return False  # somebody else goes on with it
            if not (finished := self._page(claim, page, retry_kept)):
                break
        self._store.release(claim)
        return finished

    def _page(self, claim: Claim, page: Sequence[Row], retry_kept: timedelta) -> bool:
        """Dispatch a page, as far as there is time; whether there was."""
        for start in range(0, len(page), CHUNK):
            if not self.has_time():
                return False
            self._dispatch(claim, page[start : start + CHUNK], retry_kept)
        return True

    def _dispatch(self, claim: Claim, rows: Sequence[Row], retry_kept: timedelta) -> None:
        """Send a chunk, then mark it: a death in between sends it twice, and loses nothing."""
        now = self._clock()
        sent: list[Row] = []
        kept = [Kept(row, row.problem) for row in rows if row.timeout is None]
        ready = [
            ready for row in rows if row.timeout and (ready := outgoing(row, row.timeout, now)) is not None
        ]
        for batch in batches(each for each in ready if each.to not in self._failing):
            outcome = self._sender.send(batch[0].to, [each.entry for each in batch])
            sent += [batch[n].row for n in outcome.sent]
            kept += [Kept(batch[n].row, reason) for n, reason in outcome.refused.items()]
            self._note_failure(batch, outcome)
        if sent:
            self._store.mark(sent, now=now)
        if kept:
            self._store.keep(claim, kept, retry_at=moment(claim.horizon) + retry_kept)
            tell(kept, now + retry_kept)
        self._count(rows, sent, kept, now)

    def _note_failure(self, batch: list[Outgoing], outcome: Outcome) -> None:
        if outcome.failed:
            self._failing.add(
                batch[0].to
            )  # for this run: a queue that does not answer must not use up the time of others
            text = "SQS could not be told about timeouts for '%s': %s. As a result, they stay, and the next run sends them."
            written(log.warning, text, batch[0].to, outcome.failed)

    def _count(self, rows: Sequence[Row], sent: list[Row], kept: list[Kept], now: datetime) -> None:
        late = [(now - row.timeout.due_at).total_seconds() for row in sent if row.timeout]
        report = self.report
        self.report = replace(
            report,
            dispatched=report.dispatched + len(sent),
            kept=report.kept + len(kept),
            postponed=report.postponed + len(rows) - len(sent) - len(kept),
            behind=max(report.behind, *late, 0.0) if late else report.behind,
        )


def tell(kept: list[Kept], retry_at: datetime) -> None:
    """Log what could not be dispatched, and what becomes of it."""
    for each in kept:
        to = each.row.timeout.to if each.row.timeout else "?"
        text = "Timeout '%s' for '%s' cannot be dispatched: %s. It is kept, and tried again after %s."
        extra = {"timeout_id": each.row.id, "queue": to}
        written(
            log.error, text, each.row.id, to, each.reason, retry_at.isoformat(timespec="seconds"), extra=extra
        )


def told(report: Report) -> Report:
    """The report, logged when there was anything to do or it was not done."""
    if report.dispatched or report.kept or report.postponed or not report.finished:
        text = "Dispatched %d timeouts, kept %d, postponed %d; at most %.1f s overdue; %s"
        end = "all that was due was seen" if report.finished else "the next run goes on"
        facts = (report.dispatched, report.kept, report.postponed, report.behind, end)
        written(log.info, text, *facts, extra=asdict(report))
    return report
