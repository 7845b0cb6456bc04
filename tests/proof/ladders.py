"""Define the short ladders of scenarios, and their error queue."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from recoverable import Delayed, Failed, Immediate, Recoverability

ERRORS = "errors"


def ladder(immediate: int = 1, delayed: int = 1, errors: str = ERRORS, **settings: Any) -> Recoverability:
    """Return a short ladder."""
    return Recoverability(Immediate(immediate), Delayed(delayed, timedelta(seconds=10)), Failed(errors), **settings)


def quiet_between_rounds(immediate: int = 0, delayed: int = 2) -> Recoverability:
    """Return a short ladder whose delays are so long that the connections of an instance end meanwhile."""
    return ladder(immediate, delayed).__replace__(delayed=Delayed(delayed, timedelta(minutes=20)))


def in_process(immediate: int = 1, delayed: int = 1) -> Recoverability:
    """Return a short ladder whose first deliveries are retried inside their invocation."""
    return ladder(immediate, delayed).__replace__(immediate=Immediate(immediate, in_process=True))
