"""Choose the action for a failed attempt.

This is the default policy, and the adjustment of any policy's action to the platform.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from recoverable._config import Delayed, Immediate, Recoverability
from recoverable._errors import RetryAfter, UnreportedFailure
from recoverable._ladder.actions import Action, DelayedRetry, ErrorContext, ImmediateRetry, MoveToError
from recoverable._ladder.backoff import chance
from recoverable._ladder.delivery import Platform
from recoverable._limits import MAX_DELAY, MAX_DELAYED, MAX_IMMEDIATE, NO_DELAY

MAX_SINCE_DELAYED_RETRY = timedelta(hours=24)
"""No delayed retry follows one that was scheduled longer ago (NServiceBus, "Recoverability": retries must not hide
failures)."""


Policy = Callable[[Recoverability, ErrorContext], Action]
"""Decides about a failed attempt. A policy is a pure function: for the same failure it returns the same action on each
instance."""

MOVING = "Moving message to error queue instead."
NOT_AVAILABLE = "not available with the current endpoint configuration"


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
    asks_to_wait = isinstance(context.exception, RetryAfter)
    if not asks_to_wait and context.immediate_processing_failures <= recoverability.immediate.max_retries:
        return ImmediateRetry()
    if may_retry_delayed(recoverability.delayed, context):
        return DelayedRetry(next_delay(recoverability.delayed, context))
    return MoveToError(recoverability.failed.error_queue)


def is_unrecoverable(recoverability: Recoverability, exception: BaseException) -> bool:
    """True if a type or predicate of `failed.unrecoverable` matches the exception."""
    rules = recoverability.failed.unrecoverable
    return any(isinstance(exception, rule) if isinstance(rule, type) else rule(exception) for rule in rules)


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
    if isinstance(context.exception, RetryAfter) and (asked := delay_asked_for(context.exception)) is not None:
        return asked
    return delay_after(delayed, context.delayed_deliveries_performed, context.message.id)


def delay_asked_for(error: RetryAfter) -> timedelta | None:
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


def available(recoverability: Recoverability, platform: Platform) -> Recoverability:
    """Return the settings as policies see them: retries that the platform cannot do have `max_retries == 0`."""
    if not platform.immediate_retries:
        recoverability = recoverability.__replace__(immediate=Immediate(0))
    if not platform.delayed_retries:
        recoverability = recoverability.__replace__(delayed=Delayed(0, NO_DELAY))
    return recoverability


def adjust_for_transport_capabilities(
    action: Action, context: ErrorContext, platform: Platform
) -> tuple[Action, str | None]:
    """Return the action that the platform can do, and a warning when it is not the requested one.

    This cannot be switched off.
    """
    if warning := impossible(action, context, platform) or too_long_a_wait(action, platform):
        return MoveToError(), f"Recoverability policy requested {warning}. {MOVING}"
    if platform.shared_process and isinstance(action, DelayedRetry):
        return add_jitter(action, context), None
    return action, None


def too_long_a_wait(action: Action, platform: Platform) -> str | None:
    """Return what was requested and why the platform cannot do it, where messages wait in place and not so long; None when it can."""
    longest = platform.longest_delay if platform.redelivers_only else None
    if longest is None or not isinstance(action, DelayedRetry) or action.delay <= longest:
        return None
    return f"a delay of {action.delay} where a message can wait for {longest} at most"


def at_least_configured(action: Action, delayed: Delayed, context: ErrorContext) -> Action:
    """Return a delayed retry that waits no less than the configured delay before the next round, if there is one; any other action as it is."""
    if not isinstance(action, DelayedRetry) or context.delayed_deliveries_performed >= delayed.max_retries:
        return action
    least = configured_delay(delayed, context.delayed_deliveries_performed, context.message.id)
    return DelayedRetry(max(action.delay, least))


def add_jitter(retry: DelayedRetry, context: ErrorContext) -> DelayedRetry:
    """Return the delayed retry of an `UnreportedFailure` with a delay that is longer by 0 to 100 %; any other as it is.

    Messages of a process that one of them crashed were delivered together. Without jitter they would be delivered
    together in each round, and the message that crashes would take the others along to the error queue.
    """
    if not isinstance(context.exception, UnreportedFailure):
        return retry
    share = chance(context.message.id, context.delayed_deliveries_performed)
    return DelayedRetry(min(retry.delay * (1 + share), MAX_DELAY))


def impossible(action: Action, context: ErrorContext, platform: Platform) -> str | None:
    """Return what was requested and why the platform cannot do it; None when it can."""
    is_past_all_attempts = platform.redelivers_only and isinstance(context.exception, UnreportedFailure)
    match action:
        case ImmediateRetry() if not platform.immediate_retries:
            return f"ImmediateRetry however immediate retries are {NOT_AVAILABLE}"
        case DelayedRetry() if not platform.delayed_retries:
            return f"DelayedRetry however delayed delivery capability is {NOT_AVAILABLE}"
        case ImmediateRetry() if context.immediate_processing_failures > MAX_IMMEDIATE:
            return f"more than {MAX_IMMEDIATE} immediate retries"
        case DelayedRetry() if context.delayed_deliveries_performed >= MAX_DELAYED:
            return f"more than {MAX_DELAYED:,} delayed retries"
        case ImmediateRetry() | DelayedRetry() if is_past_all_attempts:
            return "a retry of a message delivered more often than it has attempts"
        case _:
            return None
