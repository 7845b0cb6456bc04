"""Define a user's policy for scenarios."""

from __future__ import annotations

from datetime import timedelta

from proof.handlers import Unwanted
from recoverable import (
    Action,
    DelayedRetry,
    Discard,
    ErrorContext,
    ImmediateRetry,
    MoveToError,
    Recoverability,
    default_policy,
)


def to_a_refused_queue(recoverability: Recoverability, context: ErrorContext) -> Action:
    """Move what nobody wants to a queue that refuses it, and do for the rest as the default policy does."""
    unwanted = isinstance(context.exception, Unwanted)
    return MoveToError("refused") if unwanted else default_policy(recoverability, context)


class Granting:
    """A policy that grants more immediate retries than the setting, and then does as the default policy does.

    Args:
        more: how many more in a round.
    """

    def __init__(self, more: int) -> None:
        self.more = more

    def __call__(self, recoverability: Recoverability, context: ErrorContext) -> Action:
        """Return the action."""
        most = recoverability.immediate.max_retries + self.more
        if context.immediate_processing_failures <= most:
            return ImmediateRetry()
        return default_policy(recoverability, context)


def granted_by(recoverability: Recoverability) -> int:
    """Return how many immediate retries of a round a policy grants besides the setting."""
    policy = recoverability.policy
    return policy.more if isinstance(policy, Granting) else 0


def own_policy(recoverability: Recoverability, context: ErrorContext) -> Action:
    """Discard, move to another queue, retry without delay, or do as the default policy does."""
    if isinstance(context.exception, Unwanted):
        return Discard("nobody wants it")
    if context.delayed_deliveries_performed:
        return MoveToError("elsewhere")
    if context.immediate_processing_failures > 1:
        return DelayedRetry(timedelta(0))
    return default_policy(recoverability, context)
