"""Run asyncio in virtual time: sleeps and timers spend the world's time; sockets and threads are waited for in real time."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from contextvars import copy_context
from threading import Thread
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
        self._pretended = 0.0  # seconds that pass for an ended process alone, while its coroutines finish
        super().__init__(Waiting(self._pass))

    def __del__(self) -> None:
        self.close()  # a world has no end at which another could close it

    def time(self) -> float:
        """Return the world's time in seconds."""
        return self._now() + self._pretended

    def run_in_executor(self, *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]  # passed on as it comes
        """Run a function in a thread, which is waited for in real time."""
        self._threads += 1
        future: asyncio.Future[Any] = super().run_in_executor(*args)
        future.add_done_callback(self._thread_ended)
        return future

    async def shutdown_default_executor(self, *_limit: object, **_limited: object) -> None:
        """Wait for the threads without a time limit: they end in real time, so a limit in virtual time would be over at once."""
        await super().shutdown_default_executor()

    def pretend_from_now_on(self) -> None:
        """Stop spending the world's time; timers of the ended process still fire, in time that passes for it alone."""
        self._spend = self._pretend

    def _thread_ended(self, _future: object) -> None:
        self._threads -= 1

    def _pretend(self, seconds: float) -> None:
        self._pretended += seconds

    def _pass(self, seconds: float, *, alone: bool) -> bool:
        """Spend the time until the next timer, unless a thread or a socket may be ready sooner; return whether it was spent."""
        if alone and not self._threads:
            self._spend(seconds)
            return True
        return False


class Waiting(selectors.DefaultSelector):
    """A selector that spends virtual time where it can, and waits in real time otherwise.

    Args:
        let_pass: lets so many seconds pass if they are, given whether no socket but the loop's own is waited for.
    """

    def __init__(self, let_pass: Callable[..., bool]) -> None:
        super().__init__()
        self._let_pass = let_pass

    def select(self, timeout: float | None = None) -> Events:
        """Return the sockets that are ready now, or after the timeout."""
        ready: Events = super().select(0)
        if ready or timeout is None or timeout <= 0:
            return ready if ready or timeout is not None else super().select(None)
        if self._let_pass(timeout, alone=len(self.get_map()) == 1):
            return ready
        return super().select(timeout)


def beside_running_loop(work: Callable[[], None]) -> None:
    """Do the work here; in an async test in a thread of its own, because a thread has one running event loop, and coroutine handlers need theirs.

    Raises:
        BaseException: what the work raises.
    """
    if asyncio._get_running_loop() is None:  # noqa: SLF001  # asyncio.get_running_loop raises where there is none
        work()
        return
    errors: list[BaseException] = []

    def catch() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  # raised below, in the caller's thread
            errors.append(error)

    thread = Thread(target=copy_context().run, args=(catch,), daemon=True)
    thread.start()
    thread.join()
    for error in errors:
        raise error
