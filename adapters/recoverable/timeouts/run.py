"""One run of a dispatcher: shard by shard and page by page, it sends and then marks, and sets aside what cannot be sent."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from secrets import token_hex

from ..observe import written
from .client import Outcome, Sender
from .ids import moment
from .port import Store
from .sending import Outgoing, batches, outgoing
from .store import Claim, Kept, Row

log = logging.getLogger("recoverable.timeouts")

CHUNK = 25
"""Timeouts sent before they are marked: what a death in between sends twice at most. DynamoDB marks 25 at once (BatchWriteItem)."""

PATIENCE = timedelta(hours=1)
"""What has been due for longer than this, and whose queue does not answer, is kept as if it had been refused."""


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


class Run:
    """One run of a dispatcher.

    Args:
        store: where the timeouts wait.
        sender: sends them.
        clock: gives the time.
        has_time: whether another chunk can still be begun.
        unmarked: the ids of those that were sent and could not be marked; they are marked, and not sent again.
    """

    def __init__(
        self,
        store: Store,
        sender: Sender,
        clock: Callable[[], datetime],
        *,
        has_time: Callable[[], bool],
        unmarked: set[str],
    ) -> None:
        self._store, self._sender, self._clock, self.has_time = store, sender, clock, has_time
        self._unmarked = unmarked
        self._owner = token_hex(8)
        self._failing: dict[str, str] = {}
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
        """Dispatch a page, as far as there is time; whether there was. An empty one is a store's pause to ask that."""
        if not page:
            return self.has_time()
        for start in range(0, len(page), CHUNK):
            if not self.has_time():
                return False
            self._dispatch(claim, page[start : start + CHUNK], retry_kept)
        return True

    def _dispatch(self, claim: Claim, rows: Sequence[Row], retry_kept: timedelta) -> None:
        """Send a chunk, then mark it: a death in between sends it twice, and loses nothing."""
        now = self._clock()
        sent = [row for row in rows if row.id in self._unmarked]
        fresh = [row for row in rows if row.id not in self._unmarked]
        kept = [Kept(row, row.problem) for row in fresh if row.timeout is None]
        ready = [
            ready for row in fresh if row.timeout and (ready := outgoing(row, row.timeout, now)) is not None
        ]
        for batch in batches(each for each in ready if each.to not in self._failing):
            outcome = self._sender.send(batch[0].to, [each.entry for each in batch])
            sent += [batch[n].row for n in outcome.sent]
            kept += [Kept(batch[n].row, reason) for n, reason in outcome.refused.items()]
            self._note_failure(batch, outcome)
        kept += self._given_up(ready, {row.id for row in sent} | {each.row.id for each in kept}, now)
        self._mark(sent, now)
        if kept:
            self._store.keep(claim, kept, retry_at=moment(claim.horizon) + retry_kept)
            tell(kept, now + retry_kept)
        self._count(rows, sent, kept, now)

    def _mark(self, sent: Sequence[Row], now: datetime) -> None:
        """Mark what was sent; what cannot be marked is known to be sent, as long as this process lives."""
        if sent:
            ids = {row.id for row in sent}
            self._unmarked |= ids
            self._store.mark(sent, now=now)
            self._unmarked -= ids

    def _given_up(self, ready: list[Outgoing], done: set[str], now: datetime) -> list[Kept]:
        """What SQS could not be told for so long that it must not hold back how far the store is done with."""
        return [
            Kept(each.row, self._failing[each.to])
            for each in ready
            if each.to in self._failing and each.row.id not in done and overdue(each.row, now) > PATIENCE
        ]

    def _note_failure(self, batch: list[Outgoing], outcome: Outcome) -> None:
        if outcome.failed:  # for this run: a queue that does not answer must not use up the time of others
            self._failing[batch[0].to] = outcome.failed
            text = "SQS could not be told about timeouts for '%s': %s. As a result, they stay, and the next run sends them."
            written(log.warning, text, batch[0].to, outcome.failed)

    def _count(self, rows: Sequence[Row], sent: list[Row], kept: list[Kept], now: datetime) -> None:
        late = [overdue(row, now).total_seconds() for row in sent if row.timeout]
        report = self.report
        self.report = replace(
            report,
            dispatched=report.dispatched + len(sent),
            kept=report.kept + len(kept),
            postponed=report.postponed + len(rows) - len(sent) - len(kept),
            behind=max(report.behind, *late, 0.0) if late else report.behind,
        )


def overdue(row: Row, now: datetime) -> timedelta:
    """For how long it has been due; negative until it is."""
    assert row.timeout is not None, row.id
    return now - row.timeout.due_at


def tell(kept: list[Kept], retry_at: datetime) -> None:
    """Log what could not be dispatched, and what becomes of it."""
    for each in kept:
        to = each.row.timeout.to if each.row.timeout else "?"
        text = "Timeout '%s' for '%s' cannot be dispatched: %s. It is kept, and tried again after %s."
        extra = {"timeout_id": each.row.id, "queue": to}
        written(
            log.error, text, each.row.id, to, each.reason, retry_at.isoformat(timespec="seconds"), extra=extra
        )
