"""One run of a Lambda function: the time it has, how it can end, and what Lambda tells it about itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from math import inf

from ...alarm import TimeUp
from ..faults import ClockSkewed, Died, Fault, Raises, Slow, TimedOut, VisibilityExpired
from ..scheduler import Scheduler
from .instance import Instance
from .stored import Stored


class ProcessEnded(BaseException):
    """Raised inside a handler whose process is dead; what it still does reaches nobody."""


class Invocation:
    """One batch in one instance.

    Args:
        number: which one it is in this world, from 1.
        queue: the name of the queue that the batch came from.
        messages: the batch.
        instance: where it runs.
        timeout: seconds after which the function is killed.
        scheduler: the world's time.
        expire: makes messages visible to others.
    """

    def __init__(
        self,
        number: int,
        queue: str,
        messages: Sequence[Stored],
        instance: Instance,
        *,
        timeout: float,
        scheduler: Scheduler,
        expire: Callable[[str, Sequence[Stored]], None],
    ) -> None:
        self.number, self.queue, self.messages, self.instance = number, queue, messages, instance
        self.message_ids = tuple(message.id for message in messages)
        self.receipts = tuple(message.receipt or "" for message in messages)
        self.hops = max(message.hops for message in messages)
        self.ended = ""  # how its process ended, when it did
        self.rings_at = inf  # when the handler that runs now has used up its time
        self._scheduler, self._expire = scheduler, expire
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
        if self._scheduler.now >= self._deadline:
            self.die(f"timed out after {self._timeout:g} s")
        if self._scheduler.now >= self.rings_at:
            self.rings_at = inf
            raise TimeUp

    def die(self, how: str) -> None:
        """End the process here.

        Raises:
            ProcessEnded: always.
        """
        self.ended = self.ended or how
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
            case Died():
                self.die("died")
            case TimedOut():
                self.rings_at = inf  # it hangs where no alarm is heard
                self.spend(self.remaining())
            case VisibilityExpired():
                self._expire(self.queue, self.messages)
                self.spend(0)
            case ClockSkewed(by):
                self.instance.skew = by
            case Slow(by):
                self.spend(by.total_seconds())
            case Raises(error):
                raise error
            case _:
                raise AssertionError(f"{fault} was let through where it cannot happen")


current_invocation: ContextVar[Invocation | None] = ContextVar("recoverable.testing.invocation", default=None)


def next_hop() -> int:
    """Through how many invocations a message that is sent now has come."""
    invocation = current_invocation.get()
    return invocation.hops + 1 if invocation else 0


def current_number() -> int:
    """The number of the invocation that is at work; 0 when none is."""
    invocation = current_invocation.get()
    return invocation.number if invocation else 0
