"""Divide an invocation's time: most of it is for handlers, and a part is kept for settling."""

from __future__ import annotations

import logging
from datetime import timedelta

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

log = logging.getLogger("recoverable")

LONGEST_INVOCATION = timedelta(seconds=900)
"""A Lambda function runs for 15 minutes at most (Lambda quotas)."""

SHORTEST_CALL_TIMEOUT = 0.2
"""Seconds that a call to SQS gets at least: some ten times what it takes when all is well."""


class TimeBudget:
    """A division of the invocation's time: a part of it is kept for settling.

    Args:
        context: Lambda's; without one, or without its clock, there is no limit.
        settle_within: the part kept; at most half of the time, so that a function with less time still runs its
            handler.
    """

    __slots__ = ("_remaining", "_reserve", "call_timeout", "for_handlers", "total")

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
        """A function that returns how many seconds handlers may still run; None when there is no limit."""

    def for_call(self) -> bool:
        """True if a call to SQS would end before the invocation does."""
        return self._remaining is None or self._remaining() / 1000 > self.call_timeout

    def _seconds_for_handlers(self) -> float:
        return (self._remaining() if self._remaining else 0) / 1000 - self._reserve
