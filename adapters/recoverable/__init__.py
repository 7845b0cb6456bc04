"""Give functions that read queues immediate retries, delayed retries and an error queue with the reason of a failure."""

from __future__ import annotations

from recoverable.config import Delayed, Failed, Immediate, Recoverability
from recoverable.errors import HandlerTimeout, MessageDeserializationError, RetryAfter, UnreportedFailure
from recoverable.message import Message

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from recoverable.rate_limit.settings import RateLimit
    from recoverable.recovery.actions import Action, DelayedRetry, Discard, ImmediateRetry, MoveToError
    from recoverable.recovery.backoff import Exponential
    from recoverable.recovery.error_context import ErrorContext
    from recoverable.recovery.policy import Policy, default_policy

__all__ = [
    "Action",
    "Delayed",
    "DelayedRetry",
    "Discard",
    "ErrorContext",
    "Exponential",
    "Failed",
    "HandlerTimeout",
    "Immediate",
    "ImmediateRetry",
    "Message",
    "MessageDeserializationError",
    "MoveToError",
    "Policy",
    "RateLimit",
    "Recoverability",
    "RetryAfter",
    "UnreportedFailure",
    "default_policy",
]

_ACTIONS = ("Action", "DelayedRetry", "Discard", "ImmediateRetry", "MoveToError")


def __getattr__(name: str) -> object:
    """Import a name when it is first used, not at each cold start (PEP 562)."""
    if name in _ACTIONS:
        from recoverable.recovery import actions  # noqa: PLC0415

        return getattr(actions, name)
    if name == "Exponential":
        from recoverable.recovery.backoff import Exponential  # noqa: PLC0415

        return Exponential
    if name == "RateLimit":
        from recoverable.rate_limit.settings import RateLimit  # noqa: PLC0415

        return RateLimit
    if name in {"ErrorContext", "Policy", "default_policy"}:
        from recoverable.recovery import policy  # noqa: PLC0415

        return getattr(policy, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
