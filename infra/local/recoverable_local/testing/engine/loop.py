"""asyncio in virtual time: what sleeps, or waits for a timer, spends the world's time; what waits for sockets or threads waits really."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from typing import Any

Events = list[tuple[selectors.SelectorKey, int]]


class VirtualLoop(asyncio.SelectorEventLoop):
    """The event loop of one instance.

    Args:
        now: the world's time in seconds.
        spend: lets time pass.
    """

    def __init__(self, now: Callable[[], float], spend: Callable[[float], None]) -> None:
        self._now = now
        self._spend = spend
        self._threads = 0  # jobs that threads have not ended yet
        self._unheard = 0.0  # seconds that a dead process believes to have passed, while it ends what it had begun
        super().__init__(Waiting(self._pass))

    def __del__(self) -> None:
        self.close()  # a world has no end at which somebody else could

    def time(self) -> float:
        """The world's time in seconds."""
        return self._now() + self._unheard

    def run_in_executor(self, *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]  # passed on as it comes
        """Run something in a thread, for which real time is waited."""
        self._threads += 1
        future: asyncio.Future[Any] = super().run_in_executor(*args)
        future.add_done_callback(self._thread_ended)
        return future

    async def shutdown_default_executor(self, *_limit: object, **_limited: object) -> None:
        """Wait for the threads without a time limit, which would be over at once: they end in real time."""
        await super().shutdown_default_executor()

    def end_in_no_time(self) -> None:
        """From now on the process only believes that time passes."""
        self._spend = self._pretend

    def _thread_ended(self, _future: object) -> None:
        self._threads -= 1

    def _pretend(self, seconds: float) -> None:
        self._unheard += seconds

    def _pass(self, seconds: float, *, alone: bool) -> bool:
        """Spend the time until the next timer, unless a thread or a socket may be faster; whether it was spent."""
        if alone and not self._threads:
            self._spend(seconds)
            return True
        return False


class Waiting(selectors.DefaultSelector):
    """A selector that asks whether the time it should wait is virtual.

    Args:
        let_pass: lets so many seconds pass if they are, given whether no socket but the loop's own is waited for.
    """

    def __init__(self, let_pass: Callable[..., bool]) -> None:
        super().__init__()
        self._let_pass = let_pass

    def select(self, timeout: float | None = None) -> Events:
        """What is ready now, or after the timeout."""
        ready: Events = super().select(0)
        if ready or timeout is None or timeout <= 0:
            return ready if ready or timeout is not None else super().select(None)
        if self._let_pass(timeout, alone=len(self.get_map()) == 1):
            return ready
        return super().select(timeout)
