"""Decide how much of an invocation's time is kept for settling while handlers run, and warn where that leaves little."""

from __future__ import annotations

import logging

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from typing import Any

    from recoverable.aws._time_budget import TimeBudget

log = logging.getLogger("recoverable")

USUAL_CALL = 0.05
"""Seconds that a call to SQS is taken to last, unless a slower one was measured."""

MESSAGES_A_CALL, CALLS = 10, 2
"""Messages that one call can send or delete (SendMessageBatch), and calls that hand a message back."""

NO_MORE = float("inf")
"""All of the time: no further handler may start."""


def warn_of_little_time(total: float, reserve: float, kept: dict[object, Any]) -> None:
    """Log, once in a process, that an invocation has less than twice the time that should be kept.

    Args:
        total: seconds of the invocation.
        reserve: seconds that should be kept.
        kept: what the process keeps.
    """
    if kept.setdefault(warn_of_little_time, total) is not total:
        return
    text = "This invocation has %.1f s, of which %.1f s should be kept for settling. Handlers get half of its time. Raise the function's time-out, or lower settle_within."
    log.warning(text, total, reserve)


def seconds_kept(time: TimeBudget, remaining: float) -> float:
    """Return the seconds that an invocation keeps from now on; log it when no further handler may start.

    Args:
        time: the invocation's time.
        remaining: seconds until it ends.
    """
    if time.kept > time.total:
        return time.kept  # no further handler may start
    finished = time.invocation.finished if time.invocation else 0
    kept = seconds_to_keep(remaining, finished, time)
    if kept > time.total:
        text = "This invocation has no time left for %d of its %d messages. They are handed back and lose no attempt. Lower BatchSize, or raise the function's time-out."
        log.warning(text, time.messages - finished, time.messages)
    return kept


def seconds_to_keep(remaining: float, finished: int, time: TimeBudget) -> float:
    """Return the seconds that are kept for settling; `NO_MORE` once no further handler may start.

    Handing back what has not run takes two calls for ten messages. A handler is started only where as long as the mean
    run so far is left beside that. The first handler runs in any case, in half of the time that remains where more
    would be kept.

    Args:
        remaining: seconds until the invocation ends.
        finished: handlers that have ended.
        time: the invocation's.
    """
    total, least = time.total, time.reserve
    waiting = max(time.messages - finished - 1, 0)
    handing_back = time.call_timeout + waiting / MESSAGES_A_CALL * CALLS * max(time.slowest_call, USUAL_CALL)
    kept = max(least, min(handing_back, total / 2))
    if not finished:
        kept = min(kept, max(least, remaining / 2))
        return kept if kept < remaining else remaining / 2
    mean = (total - remaining) / finished
    if mean * (waiting + 1) < remaining - least:
        return least  # all of them fit
    return NO_MORE if remaining - kept < mean else kept
