"""Name the points where Service Bus and Functions can fail, and the faults of each."""

from __future__ import annotations

from recoverable_local.testing.engine import fault_plan
from recoverable_local.testing.engine.fault_plan import When
from recoverable_local.testing.faults import (
    AnswerLost,
    ConnectionCut,
    ConnectionReset,
    Fault,
    InstanceLost,
    LockLost,
    Refused,
    Throttled,
    Unreachable,
)

CALLS = ("cancel_scheduled_messages", "schedule_messages", "send_messages")
"""The calls of functions that can fail."""

STEPS = ("attempt", "invoke", "renew", "settle")
"""The steps of the endpoint and the host that can fail, besides the calls."""

ANYWHERE: tuple[type[Fault], ...] = (*fault_plan.ANYWHERE, LockLost, InstanceLost, ConnectionCut)


def possible_faults(when: When, what: str) -> tuple[type[Fault], ...]:
    """Return the types of the faults that can happen at a point."""
    match when, what:
        case _, "invoke" | "attempt":
            return ANYWHERE
        case "before", "settle":
            return (Unreachable, AnswerLost, LockLost)
        case "before", "renew":
            return (Unreachable, LockLost)
        case "before", _:
            return (*ANYWHERE, Refused, Throttled, Unreachable, AnswerLost, ConnectionReset)
        case _:
            return (*ANYWHERE, AnswerLost)
