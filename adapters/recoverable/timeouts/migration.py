"""Moves stored timeouts to native delivery or to another store: preview, migrate, abort; what is on its way is hidden from dispatchers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from .port import Store
from .store import Row, Selection
from .timeout import Timeout

CHUNK = 25
"""Timeouts sent before they are marked: what a death in between sends twice at most."""

KEPT = "they could not be dispatched, or came too late to be read, and are kept here; the dispatcher tries them again"
"""Why those stay that were set aside: whatever is wrong with them goes with them, and their time has come."""

Say = Callable[[str], object]


class Target(Protocol):
    """Where timeouts are moved to."""

    name: str

    def objection(self, timeout: Timeout, now: datetime) -> str | None:
        """Why it cannot take a timeout now; None when it can."""

    def send(self, timeouts: Sequence[Timeout], now: datetime) -> Sent:
        """Take them; what it takes it delivers when it is due."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What a target took.

    Args:
        ids: the ids of the timeouts.
        failed: why it did not take the others; empty when it took all.
    """

    ids: frozenset[str]
    failed: str = ""


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
    """

    waiting: Counter[tuple[str, str]] = field(default_factory=Counter)
    earliest: datetime | None = None
    latest: datetime | None = None
    held: int = 0
    done: int = 0
    left: Counter[str] = field(default_factory=Counter)

    def note(self, row: Row) -> Timeout | None:
        """Count a row; its timeout, or None when that must stay where it is."""
        self.held += row.hidden
        if row.timeout is None:
            self.left[f"cannot be read: {row.problem}"] += 1
            return None
        if row.kept:
            self.left[KEPT] += 1
            return None
        due = row.timeout.due_at
        self.waiting[row.timeout.endpoint, row.timeout.to] += 1
        self.earliest = due if self.earliest is None else min(self.earliest, due)
        self.latest = due if self.latest is None else max(self.latest, due)
        return row.timeout


def preview(store: Store, selection: Selection) -> Summary:
    """What waits; nothing is changed."""
    summary = Summary()
    for row in rows(store, selection):
        summary.note(row)
    return summary


def migrate(
    store: Store,
    target: Target,
    selection: Selection,
    clock: Callable[[], datetime],
    *,
    dry_run: bool,
    say: Say,
) -> Summary:
    """Move what waits; begun again after an interruption, it goes on with what is still there.

    Args:
        store: where it waits; another migration of it must not run.
        target: where it goes.
        selection: which timeouts.
        clock: gives the time.
        dry_run: say what would be done, and change nothing.
        say: told the progress.
    """
    summary = Summary()
    for page in store.scan(selection):
        for start in range(0, len(page), CHUNK):
            move(store, target, page[start : start + CHUNK], summary, clock(), dry_run=dry_run)
        verb = "would be moved" if dry_run else "moved"
        say(f"{summary.waiting.total():,} seen, {summary.done:,} {verb}, {summary.left.total():,} left")
    return summary


def move(
    store: Store, target: Target, chunk: Sequence[Row], summary: Summary, now: datetime, *, dry_run: bool
) -> None:
    """Hide, send, then mark: an end in between leaves them hidden, and the next migration or an abort takes them up."""
    ready: dict[str, Row] = {}
    for row in chunk:
        timeout = summary.note(row)
        if timeout is None:
            continue
        if why := target.objection(timeout, now):
            summary.left[why] += 1
        elif dry_run or store.hide(row):
            ready[row.id] = row
        else:
            summary.left["a dispatcher may have taken it, or it is cancelled"] += 1
    if dry_run:
        summary.done += len(ready)
        return
    if ready:
        sent = target.send([row.timeout for row in ready.values() if row.timeout], now)
        store.mark_migrated([ready[timeout_id] for timeout_id in sent.ids], now=now)
        summary.done += len(sent.ids)
        if untaken := len(ready) - len(sent.ids):
            why = f"{target.name} did not take it: {sent.failed}; it stays hidden until migrate or abort"
            summary.left[why] += untaken


def abort(store: Store, selection: Selection, *, dry_run: bool) -> Summary:
    """Let dispatchers see again what a migration that did not end holds; a chunk that was just sent may then come twice."""
    summary = Summary()
    for page in store.scan(selection):
        hidden = [row for row in page if row.hidden]
        for row in hidden:
            summary.note(row)
        if not dry_run:
            store.show(hidden)
        summary.done += len(hidden)
    return summary


def rows(store: Store, selection: Selection) -> Iterator[Row]:
    """The rows of all pages."""
    for page in store.scan(selection):
        yield from page
