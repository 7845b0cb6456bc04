"""Run one invocation: its time limit, its faults, and how its process can end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from math import inf
from typing import Any

from recoverable.hosting import TimeUp
from recoverable_local.testing.engine.instance import Instance
from recoverable_local.testing.engine.scheduler import Scheduler
from recoverable_local.testing.faults import (
    ClockSkewed,
    ConnectionCut,
    Died,
    Fault,
    InstanceLost,
    LockLost,
    Raises,
    Slow,
    TimedOut,
    VisibilityExpired,
)

MACHINE_LOST = "its machine was lost"
"""End of a process whose host was lost too."""

CONNECTION_CUT = "its host ended too"
"""End of a process whose host ended with it, which the broker sees."""

ENDS: Mapping[type[Fault], str] = {Died: "died", InstanceLost: MACHINE_LOST, ConnectionCut: CONNECTION_CUT}
"""How a process ends by a fault."""

LATE = 60.0
"""Seconds after its time for which a function hangs that is not killed."""

TIMED_OUT = "timed out after "
"""Beginning of how the process ended, when its function took too long."""


class ProcessEnded(BaseException):
    """Raised inside a handler whose process has ended; nothing that it still does has an effect."""


class Invocation:
    """One batch handled in one instance.

    Args:
        number: which one it is in this world, from 1.
        queue: the name of the queue that the batch came from.
        message_ids: the broker's ids of the batch.
        instance: where it runs.
        timeout: seconds after which the function is killed.
        scheduler: the world's time.
        expire: makes the messages available to others.
        hops: through how many invocations the lineage of the batch has come.
        ending: called with how the process ended.
        enforced: False where the process goes on when its time is over (Lambda Managed Instances).
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
        enforced: bool = True,
    ) -> None:
        self.number, self.queue, self.instance = number, queue, instance
        self.message_ids, self.hops = tuple(message_ids), hops
        self.ended = ""  # how its process ended, when it did
        self._leaves_behind = False  # True while a handler runs that is left behind when its time is up
        self.handler_deadline = inf  # in seconds of the world; infinity when no handler runs
        self.stopped = False  # True once the time of the handler that runs was up
        self._scheduler, self._expire, self._ending = scheduler, expire, ending
        self.timeout, self._deadline, self._enforced = timeout, scheduler.now + timeout, enforced

    def limit_handler(self, deadline: float) -> None:
        """Stop what the handler spends at a deadline, in seconds of the world; infinity when no handler runs."""
        self.handler_deadline, self.stopped = deadline, False
        self.watch()

    def watch(self) -> None:
        """End the run if the code of this invocation takes longer in real time than it has from now on."""
        left = min(self._deadline, self.handler_deadline) - self._scheduler.now
        self._scheduler.real_time.watch(self, left)

    def rest(self) -> None:
        """Watch the real time of this invocation no more."""
        self._scheduler.real_time.watch(None, inf)

    def block(self, error: Exception) -> None:
        """End the run by an error, and this process with it: its handler blocks in real time."""
        self._scheduler.end_run(error)
        with suppress(ProcessEnded):
            self.die("blocked in real time")

    def remaining(self) -> float:
        """Return the seconds until the function is killed; 0 once its process has ended."""
        return 0.0 if self.ended else max(self._deadline - self._scheduler.now, 0.0)

    def spend(self, seconds: float) -> None:
        """Let time pass, until the handler's deadline or the function's time-out at most.

        Raises:
            TimeUp: the endpoint's limit for this handler is reached.
            ProcessEnded: the function's time-out is reached, or its process is dead.
        """
        self.check_alive()
        end = self._deadline if self._enforced else inf
        self.rest()
        self._scheduler.wait_until(min(self._scheduler.now + seconds, self.handler_deadline, end))
        self.watch()
        self.check_alive()  # another invocation in the same process may have ended it
        if self._scheduler.now >= end:
            self.die(f"{TIMED_OUT}{self.timeout:g} s")
        if self._scheduler.now >= self.handler_deadline:
            self.handler_deadline, self.stopped = inf, True
            raise TimeUp

    def hang(self, seconds: float) -> None:
        """Let time pass as code does that nothing can stop; it is stopped as soon as it has ended.

        Raises:
            TimeUp: the endpoint's limit for this handler was reached meanwhile.
            ProcessEnded: the function's time-out is reached, or its process is dead.
        """
        if self._leaves_behind:
            self.spend(seconds)
            return
        deadline, self.handler_deadline = self.handler_deadline, inf
        self.spend(seconds)
        if self._scheduler.now >= deadline:
            self.stopped = True
            raise TimeUp
        self.handler_deadline = deadline

    def call_within(self, seconds: float, function: Callable[[], Any]) -> Any:
        """Call a plain handler that may take so many seconds, as a thread does that is left behind: what nothing can stop ends here too.

        Raises:
            TimeUp: it takes longer.
        """
        self.limit_handler(self._scheduler.now + seconds)
        self._leaves_behind = True
        try:
            return function()
        except BaseException:
            if self.stopped and not self.ended:
                raise TimeUp from None  # it is left behind, whatever it makes of that
            raise
        finally:
            self.handler_deadline, self._leaves_behind = inf, False

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
        """Raise if the process has ended: a dead process does nothing.

        Raises:
            ProcessEnded: it is.
        """
        if self.ended:
            raise ProcessEnded(self.ended)

    def apply_fault(self, fault: Fault | None) -> None:
        """Apply a fault that can happen anywhere in an invocation; clients apply the faults of their calls themselves."""
        match fault:
            case None:
                pass
            case Died() | InstanceLost() | ConnectionCut():
                self.die(ENDS[type(fault)])
            case TimedOut():
                self.handler_deadline = inf  # it hangs where no deadline stops it
                self.spend(self.remaining() + (0 if self._enforced else LATE))
            case VisibilityExpired() | LockLost():
                self._expire()
                self.spend(0)
            case ClockSkewed(by):
                self.instance.skew = by
            case Slow(by):
                self.spend(by.total_seconds())
            case Raises(error):
                raise error.with_traceback(None)  # without the frames of the times before, which it would keep alive
            case _:
                raise AssertionError(f"{fault} cannot happen here, and was not refused")


current_invocation: ContextVar[Invocation | None] = ContextVar(
    "recoverable_local.testing.engine.invocation", default=None
)


def current_number() -> int:
    """Return the number of the invocation that is running; 0 when none is."""
    invocation = current_invocation.get()
    return invocation.number if invocation else 0


def one_line(error: BaseException) -> str:
    """Return an exception's type and text, whatever its text raises."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001  # the user's code, as the exception itself
        return f"{type(error).__name__}, whose text cannot be read"
