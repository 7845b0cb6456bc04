"""Run what an invocation does beside its handlers, in virtual time: what threads do in a real process."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextvars import copy_context
from math import inf

from recoverable_local.testing.engine.invocation import Invocation, ProcessEnded, current_invocation
from recoverable_local.testing.engine.scheduler import Scheduler

log = logging.getLogger("recoverable_local.testing")


class Background(Invocation):
    """An invocation as a thread beside its handlers sees it: no deadline of a handler stops it, and its process is the same.

    Args:
        main: the invocation.
    """

    def __init__(self, main: Invocation) -> None:
        vars(self).update(vars(main))
        self._main, self.handler_deadline = main, inf

    def remaining(self) -> float:
        """Return the seconds until the function is killed."""
        return self._main.remaining()

    def die(self, how: str) -> None:
        """End the process."""
        self._main.die(how)

    def check_alive(self) -> None:
        """Raise if the process has ended."""
        self._main.check_alive()


def later(
    scheduler: Scheduler, invocation: Invocation, seconds: float, function: Callable[[], None]
) -> Callable[[], None]:
    """Call a function of an invocation's process after so many seconds, unless it has ended; return a function that cancels that."""
    context = copy_context()

    def run() -> None:
        if not invocation.ended:
            context.run(run_beside, invocation, function)

    return scheduler.at(scheduler.now + seconds, run).cancel


def run_beside(invocation: Invocation, function: Callable[[], None]) -> None:
    """Call the function as a thread does: what it raises ends the thread alone."""
    current_invocation.set(Background(invocation))
    try:
        function()
    except ProcessEnded:
        pass
    except BaseException:
        log.exception("A thread of invocation %d has ended:", invocation.number)
