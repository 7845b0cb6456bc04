"""Name the faults of a replay, so that a story can print them and a line of code can repeat them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import cache

from recoverable_local.testing import (
    AnswerLost,
    ClockSkewed,
    ConnectionCut,
    ConnectionReset,
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

FAULTS: Mapping[str, Fault] = {
    "exception": Raises(RuntimeError("injected")),
    "exit": Raises(SystemExit(3)),
    "died": Died(),
    "timed out": TimedOut(),
    "slow": Slow(timedelta(seconds=28)),  # of 30: handlers are stopped, calls get through
    "expired": VisibilityExpired(),
    "lock lost": LockLost(),
    "machine lost": InstanceLost(),
    "connection cut": ConnectionCut(),
    "clock late": ClockSkewed(timedelta(hours=1)),
    "clock early": ClockSkewed(timedelta(hours=-1)),
    "throttled": Throttled(),
    "refused": Refused("AccessDenied"),
    "unreachable": Unreachable(),
    "answer lost": AnswerLost(),
    "reset": ConnectionReset(),
    "reset after it was done": ConnectionReset(done=True),
    "first failed": PartlyFailed((0,)),
    "others failed": PartlyFailed((1, 2, 3)),
    "delivered twice": DeliveredTwice(),
}

WRONG_CLOCKS = ("clock late", "clock early")

FREE = ("clock early",)
"""Faults that cost no run and no copy anywhere."""

FREE_AT = {("attempt", "exception"), ("invoke", "throttled")}
"""Faults that cost nothing at these steps: the first is a failed attempt, the second waits before it calls the function."""


@cache
def possible_fault_names(possible_faults: PossibleFaults, when: When, what: str) -> tuple[str, ...]:
    """Return the names of the faults that can happen at such a point."""
    return tuple(fault_name for fault_name, fault in FAULTS.items() if isinstance(fault, possible_faults(when, what)))


def costs(fault_name: str, point: FaultPoint) -> bool:
    """True if the fault may cost each message of its invocation one extra run and one extra copy."""
    return fault_name not in FREE and (point.what, fault_name) not in FREE_AT


class Once:
    """A hook that injects one fault, at the n-th point where it can happen."""

    def __init__(self, fault_name: str, nth: int, possible_faults: PossibleFaults) -> None:
        self._fault_name, self._left, self._possible_faults = fault_name, nth, possible_faults

    def __call__(self, point: FaultPoint) -> Fault | None:
        if self._fault_name not in possible_fault_names(self._possible_faults, point.when, point.what):
            return None
        self._left -= 1
        return FAULTS[self._fault_name] if self._left == 0 else None
