"""What to do about a failed attempt: the default policy, and what a platform makes of any policy's answer."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from recoverable.config import Delayed, Immediate, Recoverability
from recoverable.errors import RetryAfter, UnreportedFailure
from recoverable.headers import DELAYED_RETRY_AT, FIRST_DELAYED_RETRY_AT, read_date
from recoverable.limits import MAX_DELAY, MAX_DELAYED, MAX_IMMEDIATE, NO_DELAY
from recoverable.recovery.actions import Action, DelayedRetry, ImmediateRetry, MoveToError
from recoverable.recovery.backoff import chance
from recoverable.recovery.delivery import Platform
from recoverable.recovery.error_context import ErrorContext

MAX_SINCE_DELAYED_RETRY = timedelta(hours=24)
"""No delayed retry follows one that was scheduled longer ago (NServiceBus, "Recoverability": retries must not hide failures)."""


Policy = Callable[[Recoverability, ErrorContext], Action]
"""Decides about a failed attempt: pure, so that the same failure gets the same answer wherever it is asked."""


def default_policy(recoverability: Recoverability, context: ErrorContext) -> Action:
    """The ladder: unrecoverable → error queue; immediate retries; delayed retries; error queue.

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
    if has_delayed_retry_left(recoverability.delayed, context):
        return DelayedRetry(next_delay(recoverability.delayed, context))
    return MoveToError(recoverability.failed.error_queue)


def is_unrecoverable(recoverability: Recoverability, exception: BaseException) -> bool:
    """Whether a type or predicate of `failed.unrecoverable` names the exception."""
    rules = recoverability.failed.unrecoverable
    return any(isinstance(exception, rule) if isinstance(rule, type) else rule(exception) for rule in rules)


def has_delayed_retry_left(delayed: Delayed, context: ErrorContext) -> bool:
    """Whether another round may follow, by number and by time."""
    last = read_date(context.message.headers, DELAYED_RETRY_AT) or context.now
    first = read_date(context.message.headers, FIRST_DELAYED_RETRY_AT) or context.now
    return (
        context.delayed_deliveries_performed < delayed.max_retries
        and context.now - last <= MAX_SINCE_DELAYED_RETRY
        and (delayed.max_total_time is None or context.now - first <= delayed.max_total_time)
    )


def next_delay(delayed: Delayed, context: ErrorContext) -> timedelta:
    """The delay that the handler asked for, or the configured one."""
    if isinstance(context.exception, RetryAfter):
        return context.exception.delay
    return delay_after(delayed, context.delayed_deliveries_performed, context.message.id)


def delay_after(delayed: Delayed, retries_made: int, message_id: str) -> timedelta:
    """The delay before the next round, between 0 and 365 days."""
    linear = delayed.time_increase * (retries_made + 1)
    delay = linear if delayed.backoff is None else delayed.backoff(retries_made)
    spread = delay * (delayed.jitter * chance(message_id, retries_made)) if delayed.jitter else NO_DELAY
    return min(max(delay - spread, NO_DELAY), MAX_DELAY)


def available(recoverability: Recoverability, platform: Platform) -> Recoverability:
    """The settings as policies see them: retries that the platform cannot do have `max_retries == 0`."""
    if not platform.immediate_retries:
        recoverability = recoverability.__replace__(immediate=Immediate(0))
    if not platform.delayed_retries:
        recoverability = recoverability.__replace__(delayed=Delayed(0, NO_DELAY))
    return recoverability


def adjust_for_transport_capabilities(
    action: Action, context: ErrorContext, platform: Platform
) -> tuple[Action, str | None]:
    """The action that is possible, and the warning when it is not the one asked for; this cannot be switched off."""
    if warning := impossible(action, context, platform):
        return MoveToError(), f"Recoverability policy requested {warning}. {MOVING}"
    if platform.shared_process and isinstance(action, DelayedRetry):
        return add_jitter(action, context), None
    return action, None


def add_jitter(retry: DelayedRetry, context: ErrorContext) -> DelayedRetry:
    """The retry of a message whose deliveries ended without a word, later by up to as long again, and differently for each.

    Those that one killer took along were delivered together, and would be again, round after round, until all are given up.
    """
    if not isinstance(context.exception, UnreportedFailure):
        return retry
    share = chance(context.message.id, context.delayed_deliveries_performed)
    return DelayedRetry(min(retry.delay * (1 + share), MAX_DELAY))


def impossible(action: Action, context: ErrorContext, platform: Platform) -> str | None:
    """What was requested, and why it cannot be; None when it can."""
    beyond_its_ladder = platform.redelivers_only and isinstance(context.exception, UnreportedFailure)
    match action:
        case ImmediateRetry() if not platform.immediate_retries:
            return f"ImmediateRetry however immediate retries are {NOT_AVAILABLE}"
        case DelayedRetry() if not platform.delayed_retries:
            return f"DelayedRetry however delayed delivery capability is {NOT_AVAILABLE}"
        case ImmediateRetry() if context.immediate_processing_failures > MAX_IMMEDIATE:
            return f"more than {MAX_IMMEDIATE} immediate retries"
        case DelayedRetry() if context.delayed_deliveries_performed >= MAX_DELAYED:
            return f"more than {MAX_DELAYED:,} delayed retries"
        case ImmediateRetry() | DelayedRetry() if beyond_its_ladder:
            return "a retry of a message delivered beyond its ladder"
        case _:
            return None


MOVING = "Moving message to error queue instead."
NOT_AVAILABLE = "not available with the current endpoint configuration"
