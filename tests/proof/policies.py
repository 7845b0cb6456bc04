"""Define a user's policy for scenarios."""

from __future__ import annotations

from datetime import timedelta

from proof.handlers import Unwanted
from recoverable import Action, DelayedRetry, Discard, ErrorContext, MoveToError, Recoverability, default_policy


def to_a_refused_queue(recoverability: Recoverability, context: ErrorContext) -> Action:
    """Move what nobody wants to a queue that refuses it, and do for the rest as the default policy does."""
    unwanted = isinstance(context.exception, Unwanted)
    return MoveToError("refused") if unwanted else default_policy(recoverability, context)


def own_policy(recoverability: Recoverability, context: ErrorContext) -> Action:
    """Discard, move to another queue, retry without delay, or do as the default policy does."""
    if isinstance(context.exception, Unwanted):
        return Discard("nobody wants it")
    if context.delayed_deliveries_performed:
        return MoveToError("elsewhere")
    if context.immediate_processing_failures > 1:
        return DelayedRetry(timedelta(0))
    return default_policy(recoverability, context)
