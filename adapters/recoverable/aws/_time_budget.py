"""Divide an invocation's time: most of it is for handlers, and a part is kept for settling."""

from __future__ import annotations

import logging
from datetime import timedelta
from functools import cached_property

from recoverable._flow.deadline import FOREVER
from recoverable._sqs.queues import LONGEST_VISIBILITY

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from recoverable._flow.invocation import Invocation

log = logging.getLogger("recoverable")

LONGEST_INVOCATION = timedelta(seconds=5400)
"""A Lambda function runs for 90 minutes at most on Managed Instances, and for 15 elsewhere (Lambda quotas)."""

CHECK_EVERY = 0.02
"""Seconds after which the part that is kept is calculated again: quick handlers should not pay for it."""

SHORTEST_CALL_TIMEOUT = 0.2
"""Seconds that a call to SQS gets at least: some ten times what it takes when all is well."""

SMALL_BATCH = 100
"""Messages that can be handed back within the part kept at first."""

USUAL_CALL = 0.05
"""Seconds that a call to SQS is taken to last, unless a slower one was measured."""

MESSAGES_A_CALL, CALLS = 10, 2
"""Messages that one call can send or delete (SendMessageBatch), and calls that hand a message back."""

NO_MORE = float("inf")
"""All of the time: no further handler may start."""


class TimeBudget:
    """A division of the invocation's time: a part of it is kept for settling.

    Args:
        context: Lambda's; without one, or without its clock, there is no limit.
        settle_within: the part kept; at most half of the time, so that a function with less time still runs its
            handler.
        messages: messages of the batch that may have to be handed back; 0 where none can be without an attempt (FIFO).
        process_keeps: what the process remembers, so that it warns once.

    `reserve` are the seconds that are kept in any case, and `kept` those that are kept by now. `longest_visibility` are
    those for which a message can be hidden: the 12 hours that SQS allows count from its receive, up to one invocation ago.
    `ends` is False where the process goes on when the time is over, so that there is always time for a call (Managed
    Instances).
    """

    ends = True
    pauses_left = 2.0  # seconds of this invocation that may still be waited until SQS takes more
    slowest_call = _before_call = 0.0
    invocation: Invocation | None = None  # whose handlers the time is for

    def __init__(
        self, context: Any, settle_within: timedelta, messages: int = 0, process_keeps: dict[object, Any] | None = None
    ) -> None:
        self.context, self.reserve = context, settle_within.total_seconds()
        self._remaining: Callable[[], float] | None = getattr(context, "get_remaining_time_in_millis", None)
        self.total = self._remaining() / 1000 if self._remaining else LONGEST_INVOCATION.total_seconds()
        if self.reserve > self.total / 2:
            warn_of_little_time(self.total, self.reserve, {} if process_keeps is None else process_keeps)
            self.reserve = self.total / 2
        self.messages, self.kept = messages, self.reserve
        self.longest_visibility = LONGEST_VISIBILITY - self.total
        self.for_handlers = self._seconds_for_handlers if self._remaining else None
        """A function that returns how many seconds a handler that starts now may run; None when there is no limit."""
        # a large batch needs more than that from the start; a small one of quick handlers never needs it
        self._check_below = FOREVER if messages > SMALL_BATCH else self.total - CHECK_EVERY if messages else -FOREVER

    @cached_property
    def call_timeout(self) -> float:
        """Return the seconds that one call to SQS may take, in whole tenths: each value has a client of its own, so few values are used."""
        return max(int(self.reserve / 2 * 10) / 10, SHORTEST_CALL_TIMEOUT)

    def remaining(self) -> float:
        """Return the seconds until the invocation ends; all of its time where nothing ends it."""
        return self._remaining() / 1000 if self._remaining else self.total

    def before_call(self) -> float:
        """Return the seconds that are left for what comes before a call, such as making a client; less than 0 when there is no time for one."""
        self._before_call = self.remaining()
        return (self._before_call if self.ends else max(self._before_call, 2 * self.call_timeout)) - self.call_timeout

    def note_call(self) -> None:
        """Remember how long the slowest call took, now that the one has ended for which `before_call` was asked last."""
        self.slowest_call = max(self.slowest_call, self._before_call - self.remaining())

    def _seconds_for_handlers(self) -> float:
        remaining = (self._remaining() if self._remaining else 0) / 1000
        if remaining < self._check_below:
            self._check_below, self.kept = remaining - CHECK_EVERY, seconds_kept(self, remaining)
        return remaining - self.kept


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
