"""Give functions that read queues immediate retries, delayed retries and an error queue with the reason of a failure."""

from __future__ import annotations

from recoverable.config import Delayed, Failed, Immediate, Recoverability
from recoverable.errors import HandlerTimeout, MessageDeserializationError, RetryAfter, UnreportedFailure
from recoverable.message import Message

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from recoverable.observe.facts import Facts
    from recoverable.observe.settings import Observe
    from recoverable.outgoing.values import OutgoingRefused
    from recoverable.rate_limit.settings import RateLimit
    from recoverable.recovery.actions import Action, DelayedRetry, Discard, ErrorContext, ImmediateRetry, MoveToError
    from recoverable.recovery.backoff import Exponential
    from recoverable.recovery.policy import Policy, default_policy

__all__ = [
    "Action",
    "Delayed",
    "DelayedRetry",
    "Discard",
    "ErrorContext",
    "Exponential",
    "Facts",
    "Failed",
    "HandlerTimeout",
    "Immediate",
    "ImmediateRetry",
    "Message",
    "MessageDeserializationError",
    "MoveToError",
    "Observe",
    "OutgoingRefused",
    "Policy",
    "RateLimit",
    "Recoverability",
    "RetryAfter",
    "UnreportedFailure",
    "default_policy",
]


def __getattr__(name: str) -> object:
    """Import a name when it is first used, not at each cold start (PEP 562)."""
    from recoverable.on_demand import imported  # noqa: PLC0415

    if (found := imported(name)) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return found
