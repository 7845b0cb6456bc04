"""Run the dispatcher once: shard by shard and page by page, send and then mark, and set aside what cannot be sent."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from secrets import token_hex

from recoverable._ladder.faults import Redact
from recoverable._observe.log import log_safely
from recoverable._sqs.batches import batches
from recoverable._sqs.sender import Sender
from recoverable.timeouts._sending import SendRequest, to_send_request
from recoverable.timeouts._shards import Claim
from recoverable.timeouts._store import Kept, Row, Store
from recoverable.timeouts._timeout import from_microseconds

log = logging.getLogger("recoverable.timeouts")

CHUNK = 25
"""Timeouts that are sent before they are marked: a crash in between sends at most these twice. DynamoDB marks 25 at once (BatchWriteItem)."""

KEEP_AFTER = timedelta(hours=1)
"""A timeout that is overdue by more than this, and whose queue does not answer, is set aside, so that its minute need not be read again and again."""

AT_ONCE = timedelta(0)
"""The time after which such a timeout is tried again: when a run next reads what is set aside."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The durations that a dispatcher works with.

    Args:
        ahead: a run dispatches what is due within this time.
        lease: how long a shard is claimed at a time.
        retry_kept: the time after which a refused timeout is tried again.
    """

    ahead: timedelta
    lease: timedelta
    retry_kept: timedelta


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


class Run:
    """One run of a dispatcher.

    Args:
        store: the store of the timeouts.
        sender: sends them.
        clock: returns the time.
        timing: the durations.
        has_time: returns True if there is time to start another chunk.
        unmarked: the ids of timeouts that were sent and could not be marked; they are marked, and not sent again.
        redact: the user's redactor.
    """

    def __init__(
        self,
        store: Store,
        sender: Sender,
        clock: Callable[[], datetime],
        timing: Timing,
        *,
        has_time: Callable[[], bool],
        unmarked: set[str],
        redact: Redact | None = None,
    ) -> None:
        self._store, self._sender, self._clock, self._timing = store, sender, clock, timing
        self.has_time, self._unmarked, self._redact = has_time, unmarked, redact
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
        until, horizon = now + self._timing.lease, now + self._timing.ahead
        claim = self._store.claim(shard, self._owner, now=now, until=until, horizon=horizon)
        if claim is None:
            return True
        self._check_lease_at = now + self._timing.lease / 2
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
        self._check_lease_at = now + self._timing.lease / 2
        return self._store.renew(claim, until=now + self._timing.lease)

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
        self._keep(claim, refused, now, self._timing.retry_kept)
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
        log_safely(log.warning, text, to, why, redact=self._redact)

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
            log_kept(kept, now + retry_in, self._redact)

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


def log_kept(kept: Sequence[Kept], retry_at: datetime, redact: Redact | None) -> None:
    """Log each timeout that could not be dispatched, the reason, and when it is tried again."""
    for each in kept:
        to = each.row.timeout.to if each.row.timeout else "?"
        text = "Timeout '%s' for '%s' cannot be dispatched: %s. It is kept, and tried again after %s."
        extra = {"timeout_id": each.row.id, "queue": to}
        facts = (each.row.id, to, each.reason, retry_at.isoformat(timespec="seconds"))
        log_safely(log.error, text, *facts, extra=extra, redact=redact)


def overdue(row: Row, now: datetime) -> timedelta:
    """Return for how long a row has been due; negative before it is due."""
    assert row.timeout is not None, row.id
    return now - row.timeout.due_at
