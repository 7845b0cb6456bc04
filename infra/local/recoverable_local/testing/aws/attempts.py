"""The world's alarm, through which it also sees each attempt that an endpoint makes."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TypeVar

from recoverable.attempts.deadline import Deadline
from recoverable_local.testing.engine.invocation import Invocation
from recoverable_local.testing.engine.points import Misfortune, When
from recoverable_local.testing.timeline import Journal

T = TypeVar("T")
R = TypeVar("R")


class VirtualDeadline(Deadline):
    """Stops a handler that spends more of the world's time than it has.

    Args:
        invocation: whose handlers it stops.
        misfortune: what goes wrong before and after an attempt.
        journal: told how each attempt ended.
        clock: the world's time in seconds.
    """

    __slots__ = ("_clock", "_invocation", "_journal", "_misfortune")

    def __init__(
        self, invocation: Invocation, misfortune: Misfortune, journal: Journal, clock: Callable[[], float]
    ) -> None:
        super().__init__()
        self._works = False  # no signal: time is the world's
        self._invocation, self._misfortune, self._journal, self._clock = (invocation, misfortune, journal, clock)

    def call(self, seconds: float, handler: Callable[[T], R], argument: T) -> R:
        """Call the handler; raise `TimeUp` inside it when it spends more than so many seconds."""
        broker_id = getattr(argument, "native")["messageId"]  # noqa: B009  # endpoints call it with a Message
        self._invocation.rings_at = self._clock() + seconds
        try:
            result = self._in_between_faults(handler, argument, broker_id)
        except BaseException as error:
            self._note(broker_id, ": ".join(filter(None, (type(error).__name__, str(error)))))
            raise
        finally:
            self._invocation.rings_at = inf
        self._note(broker_id, "succeeded")
        return result

    def _in_between_faults(self, handler: Callable[[T], R], argument: T, broker_id: str) -> R:
        self._suffer("before", broker_id)
        result = handler(argument)
        self._suffer("after", broker_id)
        return result

    def _suffer(self, when: When, broker_id: str) -> None:
        invocation = self._invocation
        fault = self._misfortune.at(when, "attempt", invocation.queue, (broker_id,), invocation.number)
        invocation.suffer(fault)

    def _note(self, broker_id: str, how: str) -> None:
        self._journal.note("attempted", self._invocation.queue, broker_id, how)
