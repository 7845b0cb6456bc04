"""Keep what a process of a function has from one invocation to the next: its state, and the event loop of one thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from recoverable_local.testing.engine.loop import VirtualLoop


class Instance:
    """A process of a function, kept warm between invocations; on Functions one of the threads of a process.

    Args:
        number: which one it is, from 1.
        now: the world's time in seconds.
        kept: what endpoints keep in the process; shared by its threads.
    """

    def __init__(self, number: int, now: Callable[[], float], kept: dict[object, Any] | None = None) -> None:
        self.number = number
        self.skew = timedelta(0)
        self.spend: Callable[[float], None] = lambda _seconds: None  # of the invocation that is at work in it
        self.kept: dict[object, Any] = {} if kept is None else kept
        self._now = now
        self._loop: VirtualLoop | None = None
        self._runner: asyncio.Runner | None = None

    def runner(self) -> asyncio.Runner:
        """Return the runner of this process's coroutines: one event loop for all of them, because their clients are bound to it."""
        if self._runner is None:
            loop = self._loop = VirtualLoop(self._now, self._spend)
            self._runner = asyncio.Runner(loop_factory=lambda: loop)
        return self._runner

    def _spend(self, seconds: float) -> None:
        self.spend(seconds)

    def end(self) -> None:
        """End the process, and close its event loop."""
        if self._loop is not None and self._runner is not None:
            self._loop.pretend_from_now_on()
            with suppress(SystemExit):  # it comes again out of the tasks that waited for the one that ended the process
                self._runner.close()
