"""Where something can go wrong with SQS and Lambda, and what."""

from __future__ import annotations

from recoverable_local.testing.engine import points
from recoverable_local.testing.engine.points import When
from recoverable_local.testing.faults import (
    AnswerLost,
    DeliveredTwice,
    Fault,
    PartlyFailed,
    Refused,
    Throttled,
    Unreachable,
    VisibilityExpired,
)

PLACES = ("attempt", "invoke", "receive", "settle")
"""Where something can go wrong beside the calls that functions make."""

ANYWHERE: tuple[type[Fault], ...] = (*points.ANYWHERE, VisibilityExpired)
CALLS: tuple[type[Fault], ...] = (*ANYWHERE, Refused, Throttled, Unreachable, AnswerLost)


def fitting(when: When, what: str) -> tuple[type[Fault], ...]:
    """What can go wrong at a point."""
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
            return (*CALLS, PartlyFailed) if what.endswith("_batch") else CALLS
        case _:
            return (*ANYWHERE, AnswerLost)
