"""Where something can go wrong, and what does: the rules of a test, and the hook of an explorer of schedules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Literal

from .faults import Fault

When = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Point:
    """A place in a run where something can go wrong.

    Args:
        when: before or after what is named.
        what: an operation of the broker, such as "send_message_batch", or one of "receive", "invoke", "attempt", "settle".
        queue: the queue that it concerns.
        message_ids: the broker's ids of the messages that it concerns.
        invocation: the number of the invocation, from 1; 0 outside.
    """

    when: When
    what: str
    queue: str
    message_ids: tuple[str, ...]
    invocation: int = 0


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
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.rules: list[Rule] = []
        self.hook: Hook | None = None
        self._clock = clock

    def at(
        self, when: When, what: str, queue: str, message_ids: tuple[str, ...], invocation: int = 0
    ) -> Fault | None:
        """What goes wrong at this point, if anything."""
        if not self.rules and self.hook is None:
            return None
        point = Point(when, what, queue, message_ids, invocation)
        struck = [rule.fault for rule in self.rules if rule.strikes(point, self._clock())]
        return struck[0] if struck else self.hook(point) if self.hook else None
