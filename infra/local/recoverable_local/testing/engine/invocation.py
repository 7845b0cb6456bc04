"""One run of a function: the time it has, and how it can end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from math import inf

from recoverable.errors import TimeUp
from recoverable_local.testing.engine.instance import Instance
from recoverable_local.testing.engine.scheduler import Scheduler
from recoverable_local.testing.faults import (
    ClockSkewed,
    Died,
    Fault,
    InstanceLost,
    LockLost,
    Raises,
    Slow,
    TimedOut,
    VisibilityExpired,
)

LOST = "its machine was lost"
"""How a process ends of which not even its host is left."""

TIMED_OUT = "timed out after "
"""How the end begins of a process that was killed since a function took too long."""


class ProcessEnded(BaseException):
    """Raised inside a handler whose process is dead; what it still does reaches nobody."""


class Invocation:
    """One batch in one instance.

    Args:
        number: which one it is in this world, from 1.
        queue: the name of the queue that the batch came from.
        message_ids: the broker's ids of the batch.
        instance: where it runs.
        timeout: seconds after which the function is killed.
        scheduler: the world's time.
        expire: gives the messages to others.
        hops: through how many invocations the lineage of the batch has come.
        ending: told how the process ends.
    """

    def __init__(
        self,
        number: int,
        queue: str,
        message_ids: Sequence[str],
        instance: Instance,
        *,
        timeout: float,
        scheduler: Scheduler,
        expire: Callable[[], None],
        hops: int = 0,
        ending: Callable[[str], None] = lambda _how: None,
    ) -> None:
        self.number, self.queue, self.instance = number, queue, instance
        self.message_ids, self.hops = tuple(message_ids), hops
        self.ended = ""  # how its process ended, when it did
        self.rings_at = inf  # when the handler that runs now has used up its time
        self._scheduler, self._expire, self._ending = scheduler, expire, ending
        self._timeout, self._deadline = timeout, scheduler.now + timeout

    def remaining(self) -> float:
        """Seconds until the function is killed."""
        return max(self._deadline - self._scheduler.now, 0.0)

    def spend(self, seconds: float) -> None:
        """Let time pass, up to the end of the handler's time or of the function's.

        Raises:
            TimeUp: the endpoint's limit for this handler is reached.
            ProcessEnded: the function's time-out is reached, or its process is dead.
        """
        self.check_alive()
        self._scheduler.wait_until(min(self._scheduler.now + seconds, self.rings_at, self._deadline))
        self.check_alive()  # another invocation in the same process may have ended it
        if self._scheduler.now >= self._deadline:
            self.die(f"{TIMED_OUT}{self._timeout:g} s")
        if self._scheduler.now >= self.rings_at:
            self.rings_at = inf
            raise TimeUp

    def die(self, how: str) -> None:
        """End the process here.

        Raises:
            ProcessEnded: always.
        """
        if not self.ended:
            self.ended = how
            self._ending(how)
        raise ProcessEnded(how)

    def check_alive(self) -> None:
        """Refuse to do anything for a process that is dead.

        Raises:
            ProcessEnded: it is.
        """
        if self.ended:
            raise ProcessEnded(self.ended)

    def suffer(self, fault: Fault | None) -> None:
        """Let go wrong what can anywhere in an invocation; what belongs to a call is the client's to do."""
        match fault:
            case None:
                pass
            case Died() | InstanceLost():
                self.die("died" if isinstance(fault, Died) else LOST)
            case TimedOut():
                self.rings_at = inf  # it hangs where no alarm is heard
                self.spend(self.remaining())
            case VisibilityExpired() | LockLost():
                self._expire()
                self.spend(0)
            case ClockSkewed(by):
                self.instance.skew = by
            case Slow(by):
                self.spend(by.total_seconds())
            case Raises(error):
                raise error
            case _:
                raise AssertionError(f"{fault} was let through where it cannot happen")


current_invocation: ContextVar[Invocation | None] = ContextVar(
    "recoverable_local.testing.engine.invocation", default=None
)


def current_number() -> int:
    """The number of the invocation that is at work; 0 when none is."""
    invocation = current_invocation.get()
    return invocation.number if invocation else 0
