"""Moves stored timeouts to native delivery or to another store: preview, migrate, abort; what is on its way is hidden from dispatchers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recoverable.timeouts.migration.targets import SendResult, Target
from recoverable.timeouts.stores.port import Store
from recoverable.timeouts.stores.rows import Row, Selection
from recoverable.timeouts.timeout import Timeout

CHUNK = 25
"""Timeouts sent before they are marked: what a death in between sends twice at most."""

SKIPPED_KEPT = "they could not be dispatched and are kept here; the dispatcher tries them again"
"""Why those stay that were set aside: whatever is wrong with them goes with them, and their time has come."""

SKIPPED_TAKEN = "a dispatcher may have taken it, or it is cancelled"

Notify = Callable[[str], object]


@dataclass(slots=True)
class Summary:
    """What a migration has seen and done.

    Args:
        waiting: how many wait, by endpoint and destination.
        earliest: when the first is due.
        latest: when the last is due.
        held: how many an earlier migration holds.
        done: how many were moved, or shown again.
        left: how many were left where they are, by reason.
        stopped: why it ended early; empty when it saw all.
    """

    waiting: Counter[tuple[str, str]] = field(default_factory=Counter)
    earliest: datetime | None = None
    latest: datetime | None = None
    held: int = 0
    changed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    stopped: str = ""

    def count_row(self, row: Row) -> Timeout | None:
        """Count a row; its timeout, or None when that must stay where it is."""
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
    """What waits; nothing is changed."""
    summary = Summary()
    for page in store.scan(selection):
        for row in page:
            summary.count_row(row)
    return summary


def abort(store: Store, selection: Selection, *, dry_run: bool) -> Summary:
    """Let dispatchers see again what a migration that did not end holds; a chunk that was just sent may then come twice."""
    summary = Summary()
    for page in store.scan(selection):
        hidden = [row for row in page if row.held]
        for row in hidden:
            summary.count_row(row)
        if not dry_run:
            store.release_from_migration(hidden)
        summary.changed += len(hidden)
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
    """Migration what waits, until the target gives out; begun again after an interruption, it goes on with what is still there.

    Args:
        store: where it waits; another migration of it must not run.
        target: where it goes.
        selection: which timeouts.
        clock: gives the time.
        dry_run: say what would be done, and change nothing.
        on_progress: told how far it is.
        on_skipped: told each timeout that was to be moved and is left, and why.
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
        on_progress(f"{summary.waiting.total():,} seen, {summary.changed:,} {verb}, {summary.skipped.total():,} left")
        if summary.stopped:
            break
    return summary


def chunks(pages: Iterator[Sequence[Row]]) -> Iterator[Sequence[Row]]:
    """What is sent before it is marked."""
    for page in pages:
        for start in range(0, len(page), CHUNK):
            yield page[start : start + CHUNK]


class Migration:
    """One migration that is under way.

    Args:
        store: where they wait.
        target: where they go.
        on_skipped: told each one that is left, and why.
    """

    def __init__(self, store: Store, target: Target, on_skipped: Notify) -> None:
        self._store, self._target, self._on_skipped = store, target, on_skipped
        self.summary = Summary()

    def select(self, chunk: Sequence[Row], now: datetime) -> list[Row]:
        """Those that the target can take; the others are counted as left."""
        ready = []
        for row in chunk:
            timeout = self.summary.count_row(row)
            if timeout is None:
                continue
            if why := self._target.reason_to_skip(timeout, now):
                self.summary.skipped[why] += 1
            else:
                ready.append(row)
        return ready

    def transfer(self, ready: Sequence[Row], now: datetime) -> None:
        """Hide, send, mark; an end in between leaves them hidden, and the next migration or an abort takes them up."""
        hidden = {row.id: row for row in ready if self._store.hold_for_migration(row)}
        if taken := len(ready) - len(hidden):
            self.summary.skipped[SKIPPED_TAKEN] += taken
        if not hidden:
            return
        sent = self._target.send([row.timeout for row in hidden.values() if row.timeout], now)
        self._store.mark_migrated([hidden[timeout_id] for timeout_id in sent.ids], now=now)
        self.summary.changed += len(sent.ids)
        self.summary.stopped = sent.failed
        self._release_unsent([row for row in hidden.values() if row.id not in sent.ids], sent)

    def _release_unsent(self, rows: Sequence[Row], sent: SendResult) -> None:
        """Show again what the target certainly has not; say which it refused, and which it may have."""
        self._store.release_from_migration([row for row in rows if row.id not in sent.unconfirmed])
        for row in rows:
            if row.id in sent.unconfirmed:
                why = f"{self._target.name} may have it ({sent.unconfirmed[row.id]}), so it stays hidden until migrate or abort"
            elif row.id in sent.refused:
                why = f"{self._target.name} did not take it ({sent.refused[row.id]}), so the dispatcher sees it again"
            else:
                self.summary.skipped[f"{self._target.name} took no more, so the dispatcher sees it again"] += 1
                continue
            self.summary.skipped[why] += 1
            self._on_skipped(f"{row.id}: {why}")
