"""Name the points where SQS and Lambda can fail, and the faults of each."""

from __future__ import annotations

from recoverable_local.testing.engine import fault_plan
from recoverable_local.testing.engine.fault_plan import When
from recoverable_local.testing.faults import (
    AnswerLost,
    ConnectionReset,
    DeliveredTwice,
    Fault,
    PartlyFailed,
    Refused,
    Throttled,
    Unreachable,
    VisibilityExpired,
)

STEPS = ("attempt", "invoke", "receive", "settle")
"""The steps that can fail, besides the calls that functions make."""

ANYWHERE: tuple[type[Fault], ...] = (*fault_plan.ANYWHERE, VisibilityExpired)
CALL_FAULTS: tuple[type[Fault], ...] = (*ANYWHERE, Refused, Throttled, Unreachable, AnswerLost)


def possible_faults(when: When, what: str) -> tuple[type[Fault], ...]:
    """Return the types of the faults that can happen at a point."""
    match when, what:
        case "before", "receive":
            return (DeliveredTwice,)
        case "before", "settle":
            return (Unreachable,)
        case "before", "invoke":
            return (*ANYWHERE, Throttled)
        case _, "invoke" | "attempt":
            return ANYWHERE
        case "before", _:
            faults = (*CALL_FAULTS, ConnectionReset)
            return (*faults, PartlyFailed) if what.endswith("_batch") else faults
        case _:
            return (*ANYWHERE, AnswerLost)
