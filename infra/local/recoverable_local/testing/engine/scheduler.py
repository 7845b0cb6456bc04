"""Advance virtual time: call the functions of an agenda one at a time, in an order that only their moments and their adding decide.

Everything runs on the thread that called `run`, as long as nobody waits while others have something to do. A function that
waits cannot be left half-way on a stack. Then a new thread continues the agenda, and hands over when the wait ends.
Exactly one thread works at any time; the others wait at a lock.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from heapq import heapify, heappop, heappush
from itertools import count
from math import inf
from threading import Lock, Thread

from recoverable_local.testing.engine.real_time import RealTime


class Item:
    """One callback on the agenda; a cancelled one is skipped and costs no time."""

    __slots__ = ("cancelled", "do", "moment", "number", "waits")

    def __init__(self, moment: float, number: int, do: Callable[[], object], *, waits: bool) -> None:
        self.moment, self.number, self.do, self.waits = moment, number, do, waits
        self.cancelled = False

    def __lt__(self, other: Item) -> bool:
        return (self.moment, self.number) < (other.moment, other.number)

    def cancel(self) -> None:
        """Remove it from the agenda."""
        self.cancelled = True


class Scheduler:
    """The world's time, in seconds from 0, and its agenda."""

    def __init__(self) -> None:
        self.now = 0.0
        self._agenda: list[Item] = []
        self._passive: list[Item] = []
        self._numbers = count()
        self._until = inf
        self._error: BaseException | None = None
        self.real_time = RealTime()  # of the run that is under way
        self._running = False
        self._idle_lock = Lock()

    def at(self, moment: float, do: Callable[[], object]) -> Item:
        """Call a function at a moment; functions of the same moment are called in the order in which they were added."""
        return self._put(moment, do, waits=False)

    def at_passively(self, moment: float, do: Callable[[], object]) -> Item:
        """Call a function at a moment, if time reaches it: time does not advance for it alone."""
        item = self._item(moment, do, waits=False)
        heappush(self._passive, item)
        return item

    def run(self, until: float = inf) -> None:
        """Call what is due, until a moment or until nothing is left.

        A step that is half-way when the moment comes is finished first, and the time is then later.

        Raises:
            RuntimeError: it is running already.
            BaseException: what something on the agenda raised; nothing after it was done.
        """
        if self._running:
            raise RuntimeError("the world is running already; inside a handler, write world.spend(seconds)")
        self._running, self._until, self._error = True, until, None
        self._idle_lock.acquire()
        if not self._work():
            self._idle_lock.acquire()  # until the thread that finds the agenda empty releases it
        self._idle_lock.release()
        self._running = False
        self.now = max(self.now, until) if until < inf else self.now
        if self._error is not None:
            raise self._error

    def end_run(self, error: BaseException) -> None:
        """End the run by an error, which `run` raises; nothing more begins."""
        self._error = self._error or error

    def next_at(self) -> float:
        """Return the moment of the next item, passive or not; infinity when there is none."""
        items = first(self._agenda), first(self._passive)
        return min((item.moment for item in items if item is not None), default=inf)

    def wait_until(self, moment: float) -> None:
        """Let time pass, and let others run meanwhile; for callers that are on the agenda themselves."""
        if self.next_at() > moment:
            self.now = moment
            return
        gate = Lock()
        gate.acquire()
        self._put(moment, gate.release, waits=True)
        Thread(target=copy_context().run, args=(self._carry_on,), daemon=True).start()
        gate.acquire()

    def _carry_on(self) -> None:
        if self._work():
            self._idle_lock.release()

    def _work(self) -> bool:
        """Do what is due; True when all is done, False when another thread has taken over."""
        while (item := self._next()) is not None:
            self.now = max(self.now, item.moment)
            if item.waits:
                item.do()
                return False
            try:
                item.do()
            except BaseException as error:  # noqa: BLE001  # `run` raises it, on the thread that called it
                self.end_run(error)
        return True

    def _next(self) -> Item | None:
        item = self._peek()
        if item is None or (self._error is None and item.moment <= self._until):
            return self._take(item)
        waiting = [item for item in self._agenda if item.waits]
        if waiting:
            self._agenda.remove(min(waiting))
            heapify(self._agenda)
        return min(waiting, default=None)

    def _peek(self) -> Item | None:
        """Return the next item; a passive one only when time reaches its moment anyway."""
        following, aside = first(self._agenda), first(self._passive)
        if aside is None or (following is not None and following < aside):
            return following
        comes_anyway = following is not None or aside.moment <= self.now or self._until < inf
        return aside if comes_anyway else None

    def _take(self, item: Item | None) -> Item | None:
        if item is not None:
            heappop(self._agenda if item is first(self._agenda) else self._passive)
        return item

    def _put(self, moment: float, do: Callable[[], object], *, waits: bool) -> Item:
        item = self._item(moment, do, waits=waits)
        heappush(self._agenda, item)
        return item

    def _item(self, moment: float, do: Callable[[], object], *, waits: bool) -> Item:
        return Item(max(moment, self.now), next(self._numbers), do, waits=waits)


def first(agenda: list[Item]) -> Item | None:
    """Return the first item that is not cancelled; drop the cancelled ones before it."""
    while agenda and agenda[0].cancelled:
        heappop(agenda)
    return agenda[0] if agenda else None
