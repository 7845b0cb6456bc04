"""Immediate retries, delayed retries and an error queue with the reason on it, for functions that read queues."""

from __future__ import annotations

from .config import Delayed, Failed, Immediate, Recoverability
from .errors import HandlerTimeout, MessageDeserializationError, RetryAfter, UnreportedFailure
from .messages import Message

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from .actions import Action, DelayedRetry, Discard, ImmediateRetry, MoveToError
    from .backoff import Exponential
    from .policy import ErrorContext, Policy, default_policy
    from .rate_limit import RateLimit

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

_LATER = {
    "Exponential": "backoff",
    "RateLimit": "rate_limit",
    **dict.fromkeys(("Action", "DelayedRetry", "Discard", "ImmediateRetry", "MoveToError"), "actions"),
    **dict.fromkeys(("ErrorContext", "Policy", "default_policy"), "policy"),
}


def __getattr__(name: str) -> object:
    """What most functions never name is imported when one does, not at each cold start (PEP 562)."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(f".{_LATER[name]}", __name__), name)
