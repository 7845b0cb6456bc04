"""Give functions that read queues immediate retries, delayed retries and an error queue with the reason of a failure."""

from __future__ import annotations

from recoverable._config import Delayed, Failed, Immediate, Recoverability
from recoverable._errors import HandlerTimeout, MessageDeserializationError, RetryAfter, UnreportedFailure
from recoverable._message import Message

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from recoverable._ladder.actions import Action, DelayedRetry, Discard, ErrorContext, ImmediateRetry, MoveToError
    from recoverable._ladder.backoff import Exponential
    from recoverable._ladder.policy import Policy, default_policy
    from recoverable._observe.facts import Facts
    from recoverable._observe.settings import Observe
    from recoverable._outgoing.message import OutgoingRefused
    from recoverable._rate_limit.settings import RateLimit

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
    from recoverable._on_demand import imported  # noqa: PLC0415

    if (found := imported(name)) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return found
