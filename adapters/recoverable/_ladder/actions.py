"""Define what a policy gets, the failed attempt, and what it decides: a closed union of four, for `match` and `assert_never`."""

from __future__ import annotations

from datetime import datetime, timedelta

from recoverable._frozen import Frozen, field
from recoverable._ladder.delivery import NOTHING_CARRIED, Carried
from recoverable._limits import checked_delay, checked_queue
from recoverable._message import Message


class ErrorContext(Frozen):
    """A failed attempt, as a policy sees it.

    Args:
        exception: what the handler raised.
        message: the message that failed.
        immediate_processing_failures: failed attempts of this round, this one included; the first is 1.
        delayed_deliveries_performed: delayed retries made so far.
        receive_address: the queue that the message came from.
        now: the time of the failure.
        carried: what the message's headers carry about the retries before.
    """

    exception: BaseException = field(kw_only=True)
    message: Message = field(kw_only=True)
    immediate_processing_failures: int = field(kw_only=True)
    delayed_deliveries_performed: int = field(kw_only=True)
    receive_address: str = field(kw_only=True)
    now: datetime = field(kw_only=True)
    carried: Carried = field(default=NOTHING_CARRIED, kw_only=True)


class ImmediateRetry(Frozen):
    """Start the next attempt without delay."""


class DelayedRetry(Frozen):
    """Start the next round of attempts after a delay.

    Args:
        delay: how long to wait, 0 to 365 days.

    Raises:
        TypeError: the delay is no timedelta.
        ValueError: the delay is negative or longer than 365 days.
    """

    delay: timedelta

    def __post_init__(self) -> None:
        checked_delay("DelayedRetry(delay)", self.delay)


class MoveToError(Frozen):
    """Give the message up: move it to the error queue, for an operator.

    Args:
        error_queue: the queue's name; None for the configured error queue.

    Raises:
        TypeError: not a text.
        ValueError: a blank name.
    """

    error_queue: str | None = None

    def __post_init__(self) -> None:
        if self.error_queue is not None:
            checked_queue("MoveToError(error_queue)", self.error_queue)


class Discard(Frozen):
    """Complete the message as if it had succeeded; only the log keeps the reason.

    Args:
        reason: why, for the log.

    Raises:
        ValueError: a blank reason.
    """

    reason: str

    def __post_init__(self) -> None:
        if not str(self.reason or "").strip():
            raise ValueError(f"Discard(reason) is {self.reason!r}; write why the message may go")


Action = ImmediateRetry | DelayedRetry | MoveToError | Discard
"""The actions that a policy may return."""
