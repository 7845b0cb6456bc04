"""Stop handlers at their deadline in the world's time, and record each attempt."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, TypeVar

from recoverable.hosting import Deadline, TimeUp
from recoverable_local.testing.engine.fault_plan import FaultPlan, When
from recoverable_local.testing.engine.invocation import Invocation
from recoverable_local.testing.timeline import STOPPED, Journal, how_it_failed

TOO_LATE = 1e12
"""Seconds of the world's time after all of its invocations."""

T = TypeVar("T")
R = TypeVar("R")


class VirtualDeadline(Deadline):
    """Stops a handler that spends more of the world's time than it has.

    Args:
        invocation: the invocation whose handlers it stops.
        fault_plan: decides which faults happen before and after an attempt.
        journal: records how each attempt ended.
        clock: the world's time in seconds.
        time: the arguments of `Deadline`.
    """

    __slots__ = ("_clock", "_fault_plan", "_invocation", "_journal")

    def __init__(
        self, invocation: Invocation, fault_plan: FaultPlan, journal: Journal, clock: Callable[[], float], *time: Any
    ) -> None:
        super().__init__(*time)
        self.rings = -inf  # no signal: time is the world's
        self._invocation, self._fault_plan, self._journal, self._clock = (invocation, fault_plan, journal, clock)

    def now(self) -> float:
        """Return the world's time; a dead process has none left."""
        return TOO_LATE if self._invocation.ended else self._clock()

    def observed(self, handler: Callable[[T], R]) -> Callable[[T], R]:
        """Return what calls the handler and raises `TimeUp` inside it when its time is up, with the faults planned, and records how it ends."""

        def call(argument: T) -> R:
            broker_id = getattr(argument, "native")["messageId"]  # noqa: B009  # endpoints call it with a Message
            began = self._clock()
            self._invocation.limit_handler(self.ends)
            try:
                result = self._in_between_faults(handler, argument, broker_id)
            except BaseException as error:
                if self._invocation.stopped and not self._invocation.ended:
                    self.stopped = self.began
                is_stop = isinstance(self.failure(error), TimeUp)
                took = f"{STOPPED} after {self._clock() - began:g} s"
                self._note(broker_id, took if is_stop else how_it_failed(error))
                raise
            finally:
                self._invocation.limit_handler(inf)
            self._note(broker_id, "succeeded")
            return result

        return call

    def _in_between_faults(self, handler: Callable[[T], R], argument: T, broker_id: str) -> R:
        self._apply_fault("before", broker_id)
        result = handler(argument)
        self._apply_fault("after", broker_id)
        return result

    def _apply_fault(self, when: When, broker_id: str) -> None:
        invocation = self._invocation
        fault = self._fault_plan.fault_at(when, "attempt", invocation.queue, (broker_id,), invocation.number)
        invocation.apply_fault(fault)

    def _note(self, broker_id: str, how: str) -> None:
        self._journal.note("attempted", self._invocation.queue, broker_id, how)
