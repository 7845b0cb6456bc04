"""What a run of a dispatcher did, and how it is log_report."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from recoverable.observe.log import log_safely
from recoverable.timeouts.stores.rows import Kept, Row

log = logging.getLogger("recoverable.timeouts")


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


def log_report(report: Report) -> Report:
    """The report, logged when there was anything to do or it was not done."""
    if report.dispatched or report.kept or report.postponed or not report.finished:
        text = "Dispatched %d timeouts, kept %d, postponed %d; at most %.1f s overdue; %s"
        end = "all that was due was seen" if report.finished else "the next run goes on"
        facts = (report.dispatched, report.kept, report.postponed, report.behind, end)
        log_safely(log.info, text, *facts, extra=asdict(report))
    return report


def log_kept(kept: Sequence[Kept], retry_at: datetime) -> None:
    """Log what could not be dispatched, and what becomes of it."""
    for each in kept:
        to = each.row.timeout.to if each.row.timeout else "?"
        text = "Timeout '%s' for '%s' cannot be dispatched: %s. It is kept, and tried again after %s."
        extra = {"timeout_id": each.row.id, "queue": to}
        log_safely(log.error, text, each.row.id, to, each.reason, retry_at.isoformat(timespec="seconds"), extra=extra)


def overdue(row: Row, now: datetime) -> timedelta:
    """For how long it has been due; negative until it is."""
    assert row.timeout is not None, row.id
    return now - row.timeout.due_at
