"""Report and log what a run of the dispatcher did."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from recoverable._ladder.redaction import Redact
from recoverable._observe.log import log_safely
from recoverable.timeouts._stores.rows import Kept, Row

log = logging.getLogger("recoverable.timeouts")


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


def log_report(report: Report) -> Report:
    """Log the report if there was anything to dispatch or the run did not finish, and return it."""
    if report.dispatched or report.kept or report.postponed or not report.finished:
        text = "Dispatched %d timeouts, kept %d, postponed %d; at most %.1f s overdue; %s"
        end = "all that was due was read" if report.finished else "not finished: the next run goes on"
        facts = (report.dispatched, report.kept, report.postponed, report.behind, end)
        log_safely(log.info, text, *facts, extra=asdict(report))
    return report


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
