"""A test kit that runs your real Lambda handler on a world of SQS and Lambda in virtual time; see docs/testing.md."""

from __future__ import annotations

from .aws.seen import SeenMessage
from .aws.world import SqsWorld
from .faults import (
    AnswerLost,
    ClockSkewed,
    DeliveredTwice,
    Died,
    Fault,
    PartlyFailed,
    Raises,
    Refused,
    Slow,
    Throttled,
    TimedOut,
    Unreachable,
    VisibilityExpired,
)
from .timeline import Event, Timeline
from .virtual import EndlessRun

__all__ = [
    "AnswerLost",
    "ClockSkewed",
    "DeliveredTwice",
    "Died",
    "EndlessRun",
    "Event",
    "Fault",
    "PartlyFailed",
    "Raises",
    "Refused",
    "SeenMessage",
    "Slow",
    "SqsWorld",
    "Throttled",
    "TimedOut",
    "Timeline",
    "Unreachable",
    "VisibilityExpired",
]
