"""Where something can go wrong, and what does: the rules of a test, and the hook of an explorer of schedules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Literal

from recoverable_local.testing.faults import ClockSkewed, Died, Fault, Raises, Slow, TimedOut

When = Literal["before", "after"]
Fitting = Callable[[When, str], tuple[type[Fault], ...]]
"""What can go wrong at a point of a world, given when and what."""

ANYWHERE: tuple[type[Fault], ...] = (Raises, Slow, Died, TimedOut, ClockSkewed)
"""What can go wrong anywhere in an invocation, on any cloud."""


@dataclass(frozen=True, slots=True)
class Point:
    """A place in a run where something can go wrong.

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


class Misfit(BaseException):
    """A fault that cannot happen at its point; raised by `run`, whatever a handler or an endpoint makes of it."""

    def __init__(self, when: When, what: str, fault: Fault, fitting: Fitting) -> None:
        can = ", ".join(kind.__name__ for kind in fitting(when, what))
        super().__init__(f"{fault} cannot happen {when} {what!r}; what can is {can}")


Hook = Callable[[Point], Fault | None]


@dataclass(slots=True)
class Rule:
    """A fault that a test has asked for.

    Args:
        what: see `Point`.
        fault: what goes wrong.
        queue: only at this queue.
        nth: only at the n-th time, from 1.
        since: only from this second of the world on.
        until: only before this second.
        hits: how often it has struck.
    """

    what: str
    fault: Fault
    queue: str | None = None
    nth: int | None = None
    since: float = 0.0
    until: float = inf
    hits: int = 0
    _seen: int = field(default=0, repr=False)

    def stop(self) -> None:
        """Let it strike no more."""
        self.until = -inf

    def strikes(self, point: Point, now: float) -> bool:
        """Whether it strikes here and now; each point is asked about once."""
        here = point.when == "before" and point.what == self.what and self.queue in (None, point.queue)
        if not here or not self.since <= now < self.until:
            return False
        self._seen += 1
        if self.nth not in (None, self._seen):
            return False
        self.hits += 1
        return True


class Misfortune:
    """Asks at each point what goes wrong there.

    Args:
        clock: the world's time in seconds.
        fitting: what can go wrong where.
    """

    def __init__(self, clock: Callable[[], float], fitting: Fitting) -> None:
        self.rules: list[Rule] = []
        self.hook: Hook | None = None
        self.misfit: Misfit | None = None
        self._clock, self.fitting = clock, fitting

    def at(self, when: When, what: str, queue: str, message_ids: tuple[str, ...], invocation: int = 0) -> Fault | None:
        """What goes wrong at this point, if anything."""
        if not self.rules and self.hook is None:
            return None
        point = Point(when, what, queue, message_ids, invocation)
        struck = [rule.fault for rule in self.rules if rule.strikes(point, self._clock())]
        fault = struck[0] if struck else self.hook(point) if self.hook else None
        if fault is not None and not isinstance(fault, self.fitting(when, what)):
            self.misfit = Misfit(point.when, point.what, fault, self.fitting)
            raise self.misfit
        return fault
