"""End a run whose handler really blocks for longer than it has: virtual time stands still meanwhile, so nothing else stops it."""

from __future__ import annotations

from math import inf
from threading import get_ident, main_thread
from time import monotonic
from typing import TYPE_CHECKING, Self

from recoverable.hosting import Deadline, TimeUp
from recoverable_local.testing.engine.invocations import HandlerBlocked

if TYPE_CHECKING:
    from types import FrameType

    from recoverable_local.testing.engine.invocation import Invocation

LEAST = 30.0
"""Seconds of real time that a handler has at least: a machine that is busy with other tests may leave it none for several."""

LONGEST = 1e6
"""Seconds after which the alarm rings where nothing is watched; a timer takes no infinity."""


class RealTime(Deadline):
    """The alarm of one run; as `Deadline`, it rings on POSIX systems, where the main thread began the run."""

    __slots__ = ("_blocked", "_invocation", "_seconds", "_thread")

    def __init__(self) -> None:
        super().__init__()
        self._invocation: Invocation | None = None
        self._blocked = False
        self._thread = get_ident()

    def __enter__(self) -> Self:
        self.watch(None, inf)  # takes the signal here, for later in whatever thread runs a handler
        return self

    def watch(self, invocation: Invocation | None, seconds: float) -> None:
        """Allow what runs from now on so many seconds of real time.

        Args:
            invocation: whose code it is; None for the world's own, which has no limit.
            seconds: the virtual time that the code has left.
        """
        if self._blocked and get_ident() != self._thread:
            return  # a handler still blocks in its thread: the alarm rings until the run has ended
        self._invocation, self._seconds, self._thread = invocation, max(seconds, LEAST), get_ident()
        self.inside, self.ends = invocation is not None, monotonic() + min(self._seconds, LONGEST)
        self.arm()

    def _ring(self, signal: int, frame: FrameType | None) -> None:
        try:
            super()._ring(signal, frame)
        except TimeUp:
            if (invocation := self._invocation) is None:
                return
            blocked = HandlerBlocked(
                f"a handler of {invocation.queue!r} blocked for {self._seconds:g} s of real time, longer than its time-out. In production"
                " it is stopped then; here only virtual time counts, and it stands still. Replace the wait by world.spend(seconds), or by"
                " world.hang(seconds) where nothing can stop it"
            )
            self._blocked = True
            invocation.block(blocked)
            if self._thread == main_thread().ident:  # where signals arrive, and the handler is
                invocation.check_alive()
            raise blocked from None
