"""What goes wrong at the points of a replay, by short names that a story can tell and a line of code can repeat."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import cache

from recoverable_local.testing import (
    AnswerLost,
    ClockSkewed,
    DeliveredTwice,
    Died,
    Fault,
    InstanceLost,
    LockLost,
    PartlyFailed,
    Raises,
    Refused,
    Slow,
    Throttled,
    TimedOut,
    Unreachable,
    VisibilityExpired,
)
from recoverable_local.testing.engine.fault_plan import FaultPoint, PossibleFaults, When

WRONGS: Mapping[str, Fault] = {
    "exception": Raises(RuntimeError("injected")),
    "exit": Raises(SystemExit(3)),
    "died": Died(),
    "timed out": TimedOut(),
    "slow": Slow(timedelta(seconds=28)),  # of 30: handlers are stopped, calls get through
    "expired": VisibilityExpired(),
    "lock lost": LockLost(),
    "machine lost": InstanceLost(),
    "clock late": ClockSkewed(timedelta(hours=1)),
    "clock early": ClockSkewed(timedelta(hours=-1)),
    "throttled": Throttled(),
    "refused": Refused("AccessDenied"),
    "unreachable": Unreachable(),
    "answer lost": AnswerLost(),
    "first failed": PartlyFailed((0,)),
    "others failed": PartlyFailed((1, 2, 3)),
    "delivered twice": DeliveredTwice(),
}

FREE = ("clock late", "clock early")
"""These cost no run and no copy anywhere."""

FREE_AT = {("attempt", "exception"), ("invoke", "throttled")}
"""Nor do these: the first is an attempt that fails, the second waits before it calls the function."""


@cache
def possible_wrongs(possible_faults: PossibleFaults, when: When, what: str) -> tuple[str, ...]:
    """What can go wrong at such a point."""
    return tuple(wrong for wrong, fault in WRONGS.items() if isinstance(fault, possible_faults(when, what)))


def costs(wrong: str, point: FaultPoint) -> bool:
    """Whether each message of that invocation may be run and copied once more for it."""
    return wrong not in FREE and (point.what, wrong) not in FREE_AT


class Once:
    """A hook that lets one fault strike, at the n-th point where it can."""

    def __init__(self, wrong: str, nth: int, possible_faults: PossibleFaults) -> None:
        self._wrong, self._left, self._possible_faults = wrong, nth, possible_faults

    def __call__(self, point: FaultPoint) -> Fault | None:
        if self._wrong not in possible_wrongs(self._possible_faults, point.when, point.what):
            return None
        self._left -= 1
        return WRONGS[self._wrong] if self._left == 0 else None
