"""Give functions that read queues immediate retries, delayed retries and an error queue with the reason of a failure."""

from __future__ import annotations

from recoverable._config import Delayed, Failed, Immediate, Recoverability
from recoverable._errors import (
    HandlerTimeout,
    MessageDeserializationError,
    RetryAfter,
    StoreUnavailable,
    UnreportedFailure,
)
from recoverable._message import Message

__all__ = [
    "Action", "Delayed", "DelayedRetry", "Discard", "ErrorContext", "Exponential", "Facts", "Failed", "HandlerTimeout",
    "Immediate", "ImmediateRetry", "Message", "MessageDeserializationError", "MoveToError",
    "OutgoingRefused", "Policy", "RateLimit", "Recoverability", "RetryAfter", "StoreUnavailable", "UnreportedFailure",
    "default_policy",
]  # fmt: skip

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from recoverable._ladder.backoff import Exponential
    from recoverable._ladder.policy import (
        Action,
        DelayedRetry,
        Discard,
        ErrorContext,
        ImmediateRetry,
        MoveToError,
        Policy,
        default_policy,
    )
    from recoverable._observe.facts import Facts
    from recoverable._outgoing.message import OutgoingRefused
    from recoverable._rate_limit.settings import RateLimit
else:
    from recoverable._lazy import attach

    __getattr__, __dir__ = attach(
        __name__,
        __all__,
        {
            "recoverable._ladder.policy": (
                "Action", "DelayedRetry", "Discard", "ErrorContext", "ImmediateRetry", "MoveToError", "Policy",
                "default_policy",
            ),
            "recoverable._ladder.backoff": ("Exponential",),
            "recoverable._observe.facts": ("Facts",),
            "recoverable._outgoing.message": ("OutgoingRefused",),
            "recoverable._rate_limit.settings": ("RateLimit",),
        },
    )  # fmt: skip
