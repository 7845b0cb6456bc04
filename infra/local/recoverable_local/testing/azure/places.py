"""Where something can go wrong with Service Bus and Functions, and what."""

from __future__ import annotations

from recoverable_local.testing.engine import points
from recoverable_local.testing.engine.points import When
from recoverable_local.testing.faults import AnswerLost, Fault, InstanceLost, LockLost, Refused, Throttled, Unreachable

CALLS = ("cancel_scheduled_messages", "schedule_messages", "send_messages")
"""The calls that functions make."""

STEPS = ("attempt", "invoke", "renew", "settle")
"""What the endpoint and the host do beside them."""

ANYWHERE: tuple[type[Fault], ...] = (*points.ANYWHERE, LockLost, InstanceLost)


def fitting(when: When, what: str) -> tuple[type[Fault], ...]:
    """What can go wrong at a point."""
    match when, what:
        case _, "invoke" | "attempt":
            return ANYWHERE
        case "before", "settle":
            return (Unreachable, AnswerLost, LockLost)
        case "before", "renew":
            return (Unreachable, LockLost)
        case "before", _:
            return (*ANYWHERE, Refused, Throttled, Unreachable, AnswerLost)
        case _:
            return (*ANYWHERE, AnswerLost)
