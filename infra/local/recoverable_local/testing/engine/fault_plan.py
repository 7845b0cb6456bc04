"""Decide which fault happens at which point of a run, by the rules of a test and the hook of an explorer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Literal

from recoverable_local.testing.faults import ClockSkewed, Died, Fault, Raises, Slow, TimedOut

When = Literal["before", "after"]
PossibleFaults = Callable[[When, str], tuple[type[Fault], ...]]
"""Returns the types of the faults that can happen at a point, given when and what."""

ANYWHERE: tuple[type[Fault], ...] = (Raises, Slow, Died, TimedOut, ClockSkewed)
"""Faults that can happen anywhere in an invocation, on any cloud."""


@dataclass(frozen=True, slots=True)
class FaultPoint:
    """A point of a run where a fault can happen.

    Args:
        when: before or after what is named.
        what: a call that functions make to the broker, such as "send_message_batch", or a step of the host, such as "settle".
        queue: the queue that it concerns.
        message_ids: the broker's ids of the messages that it concerns.
        invocation: the number of the invocation, from 1; 0 outside.
    """

    when: When
    what: str
    queue: str
    message_ids: tuple[str, ...]
    invocation: int = 0


class ImpossibleFault(BaseException):
    """A fault that cannot happen at its point; `run` raises it even where a handler or an endpoint catches it."""

    def __init__(self, when: When, what: str, fault: Fault, possible_faults: PossibleFaults) -> None:
        can = ", ".join(kind.__name__ for kind in possible_faults(when, what))
        super().__init__(f"{fault} cannot happen {when} {what!r}; what can is {can}")


Hook = Callable[[FaultPoint], Fault | None]


@dataclass(slots=True)
class Rule:
    """A fault that a test asked for with `fail`.

    Args:
        what: see `FaultPoint`.
        fault: the fault.
        queue: only at this queue.
        nth: only at the n-th time, from 1.
        since: only from this second of the world on.
        until: only before this second.
        hits: how often it happened.
    """

    what: str
    fault: Fault
    queue: str | None = None
    nth: int | None = None
    since: float = 0.0
    until: float = inf
    hits: int = 0
    _matches: int = field(default=0, repr=False)

    def stop(self) -> None:
        """Stop the fault from now on."""
        self.until = -inf

    def strikes(self, point: FaultPoint, now: float) -> bool:
        """True if the rule's fault happens at this point and time; called once for each point, because it counts."""
        here = point.when == "before" and point.what == self.what and self.queue in (None, point.queue)
        if not here or not self.since <= now < self.until:
            return False
        self._matches += 1
        if self.nth not in (None, self._matches):
            return False
        self.hits += 1
        return True


class FaultPlan:
    """Decides at each point which fault happens.

    Args:
        clock: the world's time in seconds.
        possible_faults: returns the types of the faults that can happen at a point.
    """

    def __init__(self, clock: Callable[[], float], possible_faults: PossibleFaults) -> None:
        self.rules: list[Rule] = []
        self.hook: Hook | None = None
        self.impossible_fault: ImpossibleFault | None = None
        self._clock, self.possible_faults = clock, possible_faults

    def fault_at(
        self, when: When, what: str, queue: str, message_ids: tuple[str, ...], invocation: int = 0
    ) -> Fault | None:
        """Return the fault that happens at this point, or None."""
        if not self.rules and self.hook is None:
            return None
        point = FaultPoint(when, what, queue, message_ids, invocation)
        struck = [rule.fault for rule in self.rules if rule.strikes(point, self._clock())]
        fault = struck[0] if struck else self.hook(point) if self.hook else None
        if fault is not None and not isinstance(fault, self.possible_faults(when, what)):
            self.impossible_fault = ImpossibleFault(point.when, point.what, fault, self.possible_faults)
            raise self.impossible_fault
        return fault
