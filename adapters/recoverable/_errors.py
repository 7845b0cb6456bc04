"""Define the exceptions that recovery treats in their own way."""

from __future__ import annotations

from datetime import timedelta

from recoverable._limits import checked_delay

PUBLIC = "recoverable"
"""The package from which users import these exceptions: operators read the same name in logs and headers."""


class MessageDeserializationError(Exception):
    """Raised when a message cannot be read.

    A retry would not help, so it moves to the error queue at once, as all unrecoverable failures do.
    """

    __module__ = PUBLIC


class RetryAfter(Exception):
    """Raised by a handler that knows when to try again, such as after a 429 with Retry-After.

    The message gets a delayed retry with that delay, without immediate retries first; when no delayed retry remains, it
    moves to the error queue.

    Args:
        delay: how long to wait, 0 to 365 days.
        reason: the exception's text, for the log and the error queue.

    Raises:
        TypeError: the delay is not a timedelta.
        ValueError: the delay is negative or longer than 365 days.
    """

    __module__ = PUBLIC

    def __init__(self, delay: timedelta, reason: str = "") -> None:
        self.delay = checked_delay("RetryAfter(delay)", delay)
        super().__init__(reason or f"retry after {delay}")

    def __reduce__(self) -> tuple[type[RetryAfter], tuple[timedelta, str]]:
        return RetryAfter, (self.delay, str(self))


class HandlerTimeout(Exception):
    """Raised for a handler that ran too long.

    It ran longer than `handler_timeout`, or than the whole invocation less the reserve for settling.
    """

    __module__ = PUBLIC


class UnreportedFailure(Exception):
    """Raised for a message that was delivered again and again without a recorded outcome.

    Such as after a time-out, a crash, lack of memory, or a copy that was refused.
    """

    __module__ = PUBLIC


class StoreUnavailable(Exception):
    """Raised by a store that did not do what it was asked, or whose answer was lost: of circuits or of timeouts.

    It may or may not have taken the write. A circuit that cannot be read limits an instance by its own attempts alone.
    """

    __module__ = PUBLIC


class TimeUp(BaseException):
    """Raised inside a handler whose time is up.

    It is no `Exception`, because a handler's own `except Exception` must not swallow it.
    """

    __module__ = "recoverable.hosting"


class TooLarge(ValueError):
    """Raised for a timeout that is too large for the store."""

    __module__ = "recoverable.timeouts"  # the name under which users import it


class Abandoned(Exception):
    """Raised to have the host abandon its messages where no exception of a handler says why, and for one that is a BaseException."""

    __module__ = "recoverable.azure"  # the name under which users import it
