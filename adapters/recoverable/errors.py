"""The exceptions that have a meaning of their own on the ladder."""

from __future__ import annotations

from datetime import timedelta

from recoverable.checks import checked_delay


class MessageDeserializationError(Exception):
    """The message cannot be read, now or later: it goes to the error queue at once, as all unrecoverable failures do."""


class RetryAfter(Exception):
    """Raised by a handler that was told when to come back, such as by a 429 with Retry-After.

    The message gets one delayed retry of that delay at once; when no delayed retry is left, it moves to the error queue.

    Args:
        delay: how long to wait, 0 to 365 days.
        reason: what to say in the log and on the message.

    Raises:
        TypeError: the delay is no timedelta.
        ValueError: the delay is negative or longer than 365 days.
    """

    def __init__(self, delay: timedelta, reason: str = "") -> None:
        self.delay = checked_delay("RetryAfter(delay)", delay)
        super().__init__(reason or f"retry after {delay}")

    def __reduce__(self) -> tuple[type[RetryAfter], tuple[timedelta, str]]:
        return RetryAfter, (self.delay, str(self))


class HandlerTimeout(Exception):
    """The handler ran longer than its message had: the whole invocation less the reserve for settling, or `handler_timeout`."""


class UnreportedFailure(Exception):
    """The message was delivered again and again without a word of how it ended: time-out, crash, lack of memory."""


class TimeUp(BaseException):
    """Raised inside a handler whose time is up; no `Exception`, for a handler's own `except Exception` must not swallow it."""


for _error in (MessageDeserializationError, RetryAfter, HandlerTimeout, UnreportedFailure):
    _error.__module__ = "recoverable"  # the name under which users import it is the one that operators read
