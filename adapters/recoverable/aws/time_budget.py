"""Divide an invocation's time: most of it is for handlers, and a part is kept for settling."""

from __future__ import annotations

import logging
from datetime import timedelta

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from recoverable.attempts.flow import Invocation

    T = TypeVar("T")

log = logging.getLogger("recoverable")

LONGEST_INVOCATION = timedelta(seconds=900)
"""A Lambda function runs for 15 minutes at most (Lambda quotas)."""

USUAL_CALL = 0.05
"""Seconds that a call to SQS is taken to last until one was measured."""

MESSAGES_A_CALL, CALLS = 10, 2
"""Messages that one call can send or delete (SendMessageBatch), and calls that hand a message back."""

FIRST_CHECK = 0.02
"""Seconds after which it is looked again how much must be kept: quick handlers should not pay for it."""

NO_MORE = float("inf")

SHORTEST_CALL_TIMEOUT = 0.2
"""Seconds that a call to SQS gets at least: some ten times what it takes when all is well."""


class TimeBudget:
    """A division of the invocation's time: a part of it is kept for settling.

    Args:
        context: Lambda's; without one, or without its clock, there is no limit.
        settle_within: the part kept; at most half of the time, so that a function with less time still runs its
            handler.
    """

    def __init__(self, context: Any, settle_within: timedelta) -> None:
        self._reserve = settle_within.total_seconds()
        self._remaining: Callable[[], float] | None = getattr(context, "get_remaining_time_in_millis", None)
        self.total = self._remaining() / 1000 if self._remaining else LONGEST_INVOCATION.total_seconds()
        if self._reserve > self.total / 2:
            text = "This invocation has %.1f s, of which %.1f s should be kept for settling. Handlers get half of its time. Raise the function's time-out, or lower settle_within."
            log.warning(text, self.total, self._reserve)
            self._reserve = self.total / 2
        self.call_timeout = max(int(self._reserve / 2 * 10) / 10, SHORTEST_CALL_TIMEOUT)
        """Seconds that one call to SQS may take, in whole tenths: each value has a client of its own, so few values are
        used."""
        self.for_handlers = self._seconds_for_handlers if self._remaining else None
        """A function that returns how many seconds a handler that starts now may run; None when there is no limit."""
        self._kept, self._check_below = self._reserve, self.total - FIRST_CHECK
        self._slowest_call = USUAL_CALL
        self._invocation: Invocation | None = None
        self._messages = 0

    def watch(self, invocation: Invocation, messages: int) -> None:
        """Take the invocation whose handlers the time is for, and how many messages it has."""
        self._invocation, self._messages = invocation, messages
        self._check(self.total)

    def for_call(self) -> bool:
        """True if a call to SQS would end before the invocation does."""
        return self._remaining is None or self._remaining() / 1000 > self.call_timeout

    def is_over(self) -> bool:
        """True if no further handler may start in this invocation."""
        return self._remaining is not None and self._seconds_for_handlers() <= 0

    def measure(self, call: Callable[[], T]) -> T:
        """Make a call to SQS, and remember how long the slowest took."""
        before = self._remaining() if self._remaining else 0
        try:
            return call()
        finally:
            took = (before - self._remaining()) / 1000 if self._remaining else 0.0
            self._slowest_call = max(self._slowest_call, took)

    def _seconds_for_handlers(self) -> float:
        remaining = (self._remaining() if self._remaining else 0) / 1000
        if remaining < self._check_below:
            self._check(remaining)
        return remaining - self._kept

    def _check(self, remaining: float) -> None:
        """Decide how much of the time is kept for settling; all of it, once no further handler may start.

        Handing back what is not started takes two calls for ten messages. A handler is started only where as long as the mean run so
        far is left beside that; at least one runs in each invocation.
        """
        if self._kept == NO_MORE:
            return
        finished = self._invocation.finished if self._invocation else 0
        rest = max(self._messages - finished - 1, 0)
        mean = (self.total - remaining) / finished if finished else 0.0
        handing_back = min(self.call_timeout + rest / MESSAGES_A_CALL * CALLS * self._slowest_call, self.total / 2)
        self._kept = max(self._reserve, handing_back)
        if finished and mean * (rest + 1) < remaining - self._reserve:
            self._kept = self._reserve  # all of them fit
        if not finished:
            self._kept = min(self._kept, max(self._reserve, remaining / 2))
        elif remaining - self._kept < mean:
            self._kept = NO_MORE
        self._check_below = remaining - FIRST_CHECK
