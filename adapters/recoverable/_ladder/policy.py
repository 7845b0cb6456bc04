"""Choose the action for a failed attempt: what a policy gets, the four actions that it may return, and the default policy."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from recoverable._config import Delayed, Recoverability
from recoverable._errors import RetryAfter
from recoverable._frozen import Frozen, field
from recoverable._ladder.backoff import chance
from recoverable._ladder.delivery import NOTHING_CARRIED, Carried
from recoverable._ladder.groups import leaves
from recoverable._limits import MAX_DELAY, NO_DELAY, checked_delay, checked_queue
from recoverable._message import Message

MAX_SINCE_DELAYED_RETRY = timedelta(hours=24)
"""No delayed retry follows one that was scheduled longer ago (NServiceBus, "Recoverability": retries must not hide
failures)."""


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

Policy = Callable[[Recoverability, ErrorContext], Action]
"""Decides about a failed attempt. A policy is a pure function: for the same failure it returns the same action on each
instance."""


def default_policy(recoverability: Recoverability, context: ErrorContext) -> Action:
    """Return the action of the default policy.

    Unrecoverable → error queue; else immediate retries, then delayed retries, then the error queue.

    Args:
        recoverability: the settings.
        context: the failed attempt.

    Returns:
        The first action that applies (NServiceBus, "Custom Recoverability Policy").
    """
    if is_unrecoverable(recoverability, context.exception):
        return MoveToError(recoverability.failed.error_queue)
    asks_to_wait = retry_after(context.exception) is not None
    if not asks_to_wait and context.immediate_processing_failures <= recoverability.immediate.max_retries:
        return ImmediateRetry()
    if may_retry_delayed(recoverability.delayed, context):
        return DelayedRetry(next_delay(recoverability.delayed, context))
    return MoveToError(recoverability.failed.error_queue)


def is_unrecoverable(recoverability: Recoverability, exception: BaseException) -> bool:
    """True if `failed.unrecoverable` has a type or predicate that matches the exception, or one for each leaf of a group."""

    def matches(error: BaseException) -> bool:
        rules = recoverability.failed.unrecoverable
        return any(isinstance(error, rule) if isinstance(rule, type) else rule(error) for rule in rules)

    is_group = isinstance(exception, BaseExceptionGroup)
    return matches(exception) or (is_group and all(map(matches, leaves(exception))))


def may_retry_delayed(delayed: Delayed, context: ErrorContext) -> bool:
    """True if neither the number of delayed retries nor their time is used up."""
    last = context.carried.delayed_retry_at or context.now
    first = context.carried.first_delayed_retry_at or context.now
    return (
        context.delayed_deliveries_performed < delayed.max_retries
        and context.now - last <= MAX_SINCE_DELAYED_RETRY
        and (delayed.max_total_time is None or context.now - first <= delayed.max_total_time)
    )


def next_delay(delayed: Delayed, context: ErrorContext) -> timedelta:
    """Return the delay of `RetryAfter`, if the handler raised it; else the configured one."""
    asked = delay_asked_for(retry_after(context.exception))
    if asked is not None:
        return asked
    return delay_after(delayed, context.delayed_deliveries_performed, context.message.id)


def retry_after(exception: BaseException) -> RetryAfter | None:
    """Return the `RetryAfter` that was raised, alone or in a group: of several, the one with the longest delay."""
    raised = [each for each in leaves(exception) if isinstance(each, RetryAfter)]
    return max(raised, key=lambda each: delay_asked_for(each) or NO_DELAY, default=None)


def delay_asked_for(error: RetryAfter | None) -> timedelta | None:
    """Return the delay that a handler asks for, between 0 and 365 days; None when it names none.

    A subclass may set anything: a number is in seconds, as in the header Retry-After of HTTP.
    """
    asked: object = getattr(error, "delay", None)
    try:
        delay = timedelta(seconds=asked) if isinstance(asked, int | float) else asked
    except (OverflowError, ValueError):
        return None  # endless, or no number
    return min(max(delay, NO_DELAY), MAX_DELAY) if isinstance(delay, timedelta) else None


def delay_after(delayed: Delayed, retries_made: int, message_id: str) -> timedelta:
    """Return the configured delay before the next round, between 0 and 365 days."""
    linear = delayed.time_increase * (retries_made + 1)
    delay = linear if delayed.backoff is None else delayed.backoff(retries_made)
    spread = delay * (delayed.jitter * chance(message_id, retries_made)) if delayed.jitter else NO_DELAY
    return min(max(delay - spread, NO_DELAY), MAX_DELAY)


def configured_delay(delayed: Delayed, retries_made: int, message_id: str) -> timedelta:
    """Return the configured delay before the next round; where the user's backoff raises, the linear one, as the policy does and logs."""
    try:
        return delay_after(delayed, retries_made, message_id)
    except Exception:  # noqa: BLE001  # reported for each failed attempt, where the policy is asked
        return delay_after(delayed.__replace__(backoff=None), retries_made, message_id)
