"""Move stored timeouts to native delivery or to another store: preview, migrate, abort. Timeouts that are being moved are held, so that no dispatcher sends it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from recoverable import StoreUnavailable
from recoverable._sqs.batches import batches
from recoverable._sqs.sender import Sender
from recoverable.timeouts import Row, Store, Timeout
from recoverable.timeouts._sending import to_send_request
from recoverable.timeouts._store import DISPATCHED, WAITING, Selection

CHUNK = 25
"""Timeouts that are sent before they are marked: a crash in between sends at most these twice."""

SKIPPED_KEPT = "they could not be dispatched and are kept in this store; the dispatcher tries them again"
"""The reason why kept timeouts are not moved: whatever is wrong with them would move too, and they are due already."""

SKIPPED_TAKEN = "a dispatcher may have taken it, or it is cancelled"

Notify = Callable[[str], object]


class Target(Protocol):
    """Something that timeouts are moved to.

    Args:
        name: its name in messages to the user.
        address: identifies it: what a migration holds for one target is not sent to another.
    """

    name: str
    address: str

    def reason_to_skip(self, timeout: Timeout, now: datetime) -> str | None:
        """Return why it cannot take a timeout now; None when it can."""

    def send(self, timeouts: Sequence[Timeout], now: datetime) -> SendResult:
        """Take the timeouts. The target delivers each one when it is due."""


@dataclass(slots=True)
class SendResult:
    """The result of sending timeouts to a target. A timeout that it does not name was not tried, and is in the source alone.

    Args:
        ids: the ids of those that the target has.
        refused: the ids of those that it does not have, each with the reason.
        unconfirmed: the ids of those that it may have, each with the reason why that is not known.
        failed: the reason why no more can be sent now; empty when more can be sent.
    """

    ids: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)
    unconfirmed: dict[str, str] = field(default_factory=dict)
    failed: str = ""


class SqsTarget:
    """SQS's own delay, which reaches 15 minutes.

    Args:
        sender: sends to the queues.
    """

    name = address = "SQS"

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def reason_to_skip(self, timeout: Timeout, now: datetime) -> str | None:
        """Return a reason for what is due later than SQS can delay it, or for a FIFO queue later than now; None for all else."""
        if to_send_request(Row(timeout.id, timeout), timeout, now) is None:
            return "SQS delays a message by 15 minutes at most, and one of a FIFO queue not at all"
        return None

    def send(self, timeouts: Sequence[Timeout], now: datetime) -> SendResult:
        """Send the timeouts with the remaining delay."""
        ready = [to_send_request(Row(timeout.id, timeout), timeout, now) for timeout in timeouts]
        sent = SendResult()
        for batch in batches(each for each in ready if each is not None):
            outcome = self._sender.send(batch[0].to, [each.entry for each in batch])
            ids = [each.row.id for each in batch]
            sent.ids |= {ids[n] for n in outcome.sent}
            sent.refused |= {ids[n]: why for n, why in outcome.refused.items()}
            if outcome.failed:
                unknown = set(ids) - sent.ids - sent.refused.keys()
                sent.unconfirmed |= dict.fromkeys(sorted(unknown), outcome.failed)
                sent.failed = outcome.failed
                break
        return sent


class StoreTarget:
    """Another store. A moved timeout keeps its id, so that it is there once, however often it is moved.

    Args:
        store: the store.
        name: its name in messages to the user.
    """

    def __init__(self, store: Store, name: str) -> None:
        self._store, self.name, self.address = store, name, name

    def close(self) -> None:
        """Close the store, if it can be closed."""
        getattr(self._store, "close", lambda: None)()

    def reason_to_skip(self, timeout: Timeout, now: datetime) -> str | None:  # noqa: ARG002  # the port's
        """Return None: a store takes every timeout."""
        return None

    def send(self, timeouts: Sequence[Timeout], now: datetime) -> SendResult:
        """Store the timeouts. One that is held or cancelled in the target counts as unconfirmed.

        It is not taken, because then no store would send it; nor refused, because it would be released here, and it may be finished.
        """
        sent = SendResult()
        for timeout in timeouts:
            try:
                state = self._store.put(timeout, now=now)
            except ValueError as error:  # too large, say: of this one alone
                sent.refused[timeout.id] = str(error)
            except StoreUnavailable as error:
                sent.unconfirmed[timeout.id] = sent.failed = str(error)
                break
            else:
                if state in (WAITING, DISPATCHED):
                    sent.ids.add(timeout.id)
                else:
                    sent.unconfirmed[timeout.id] = f"it is {state} there"
        return sent


@dataclass(slots=True)
class Summary:
    """The counts of a migration.

    Args:
        waiting: the number that waits, by endpoint and destination.
        earliest: when the first is due.
        latest: when the last is due.
        held: the number that an earlier migration holds.
        changed: the number that was moved, or released by an abort.
        skipped: the number that was not moved, by reason.
        stopped: the reason why it ended early; empty when it read all.
    """

    waiting: Counter[tuple[str, str]] = field(default_factory=Counter)
    earliest: datetime | None = None
    latest: datetime | None = None
    held: int = 0
    changed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    stopped: str = ""

    def count_row(self, row: Row) -> Timeout | None:
        """Count a row. Return its timeout, or None when it must stay in the store."""
        self.held += row.held
        if row.timeout is None:
            self.skipped[f"cannot be read: {row.problem}"] += 1
            return None
        if row.kept:
            self.skipped[SKIPPED_KEPT] += 1
            return None
        due = row.timeout.due_at
        self.waiting[row.timeout.endpoint, row.timeout.to] += 1
        self.earliest = due if self.earliest is None else min(self.earliest, due)
        self.latest = due if self.latest is None else max(self.latest, due)
        return row.timeout


def preview(store: Store, selection: Selection) -> Summary:
    """Count what waits, and change nothing."""
    summary = Summary()
    for page in store.scan(selection):
        for row in page:
            summary.count_row(row)
    return summary


def abort(store: Store, selection: Selection, *, dry_run: bool) -> Summary:
    """Release what an unfinished migration holds. A chunk that was just sent may then be sent twice."""
    summary = Summary()
    for page in store.scan(selection):
        held = [row for row in page if row.held]
        for row in held:
            summary.count_row(row)
        if not dry_run:
            store.release_from_migration(held)
        summary.changed += len(held)
    return summary


def migrate(
    store: Store,
    target: Target,
    selection: Selection,
    clock: Callable[[], datetime],
    *,
    dry_run: bool,
    on_progress: Notify,
    on_skipped: Notify,
) -> Summary:
    """Move what waits until the target fails. After an interruption, run it again: it goes on with what is still there.

    Args:
        store: the source; no other migration of it may run.
        target: the target.
        selection: the timeouts to move.
        clock: returns the time.
        dry_run: count what would be moved, and change nothing.
        on_progress: called with a line about the progress.
        on_skipped: called with a line for each timeout that was to be moved and could not be, with the reason.
    """
    migration = Migration(store, target, on_skipped)
    summary = migration.summary
    for chunk in chunks(store.scan(selection)):
        ready = migration.select(chunk, clock())
        if dry_run:
            summary.changed += len(ready)
        else:
            migration.transfer(ready, clock())
        verb = "would be moved" if dry_run else "moved"
        on_progress(
            f"{summary.waiting.total():,} read, {summary.changed:,} {verb}, {summary.skipped.total():,} skipped"
        )
        if summary.stopped:
            break
    return summary


def chunks(pages: Iterator[Sequence[Row]]) -> Iterator[Sequence[Row]]:
    """Split pages into chunks: what is sent before it is marked."""
    for page in pages:
        for start in range(0, len(page), CHUNK):
            yield page[start : start + CHUNK]


def held_for_another(row: Row, target: Target) -> str | None:
    """Return why a row is not moved that an earlier migration holds for another target, which may have it; None otherwise."""
    if row.held_for in ("", target.address):
        return None
    return f"{row.held_for} may have it, from an earlier migration; migrate there again, or abort first"


class Migration:
    """A running migration.

    Args:
        store: the source.
        target: the target.
        on_skipped: called with a line for each timeout that could not be moved, with the reason.
    """

    def __init__(self, store: Store, target: Target, on_skipped: Notify) -> None:
        self._store, self._target, self._on_skipped = store, target, on_skipped
        self.summary = Summary()

    def select(self, chunk: Sequence[Row], now: datetime) -> list[Row]:
        """Return the rows that the target can take, and count the others as skipped."""
        ready = []
        for row in chunk:
            timeout = self.summary.count_row(row)
            if timeout is None:
                continue
            if why := held_for_another(row, self._target) or self._target.reason_to_skip(timeout, now):
                self.summary.skipped[why] += 1
            else:
                ready.append(row)
        return ready

    def transfer(self, ready: Sequence[Row], now: datetime) -> None:
        """Hold, send and mark rows. After an interruption in between they stay held, until the next migration or an abort."""
        held = {row.id: row for row in ready if self._store.hold_for_migration(row, self._target.address)}
        if taken := len(ready) - len(held):
            self.summary.skipped[SKIPPED_TAKEN] += taken
        if not held:
            return
        sent = self._target.send([row.timeout for row in held.values() if row.timeout], now)
        self._store.mark_migrated([held[timeout_id] for timeout_id in sent.ids], now=now)
        self.summary.changed += len(sent.ids)
        self.summary.stopped = sent.failed
        self._release_unsent([row for row in held.values() if row.id not in sent.ids], sent)

    def _release_unsent(self, rows: Sequence[Row], sent: SendResult) -> None:
        """Release what the target certainly does not have. Report what it refused, and what it may have."""
        self._store.release_from_migration([row for row in rows if row.id not in sent.unconfirmed])
        for row in rows:
            if row.id in sent.unconfirmed:
                why = f"{self._target.name} may have it ({sent.unconfirmed[row.id]}), so it stays held until migrate or abort"
            elif row.id in sent.refused:
                why = f"{self._target.name} did not take it ({sent.refused[row.id]}), so the dispatcher sees it again"
            else:
                self.summary.skipped[f"{self._target.name} took no more, so the dispatcher sees it again"] += 1
                continue
            self.summary.skipped[why] += 1
            self._on_skipped(f"{row.id}: {why}")
