"""Wait between two sends, and for canaries, and look meanwhile after what is held."""

from __future__ import annotations

from datetime import datetime, timedelta

from recoverable_operate.port import Clock, ErrorQueue, Stop

SLICE = 5
"""Seconds of a wait after which what is held is looked after, and canaries are looked for."""


class Pace:
    """The waits of one run. Each ends as soon as the operator stops it.

    Args:
        queue: the error queue, which holds messages meanwhile.
        rate: messages a second; 0 for as fast as the broker takes them.
        clock: tells the time, and waits.
        stop: ends a wait.
    """

    def __init__(self, queue: ErrorQueue, rate: float, *, clock: Clock, stop: Stop) -> None:
        self._queue, self._rate, self._clock, self._stop = queue, rate, clock, stop
        self._due = clock.now()

    def wait_for(self, count: int) -> None:
        """Wait until so many messages may be sent."""
        if not self._rate:
            return
        self._wait((self._due - self._clock.now()).total_seconds())
        self._due = max(self._due, self._clock.now()) + timedelta(seconds=count / self._rate)

    def watch(self, ids: set[str], wait: timedelta) -> list[str]:
        """Wait until one of these messages has come to the error queue, or so long. Return those that came."""
        end, came = self._clock.now() + wait, list[str]()
        while not came and not self._stop.requested:
            came = [each.id for each in self._queue.arrivals() if each.id in ids]
            if not came and not self._wait_until(end):
                break
        return came

    def _wait_until(self, end: datetime) -> bool:
        """Wait for a slice. Return False when the end is reached."""
        remaining = (end - self._clock.now()).total_seconds()
        self._wait(min(SLICE, remaining))
        return remaining > 0

    def _wait(self, seconds: float) -> None:
        while seconds > 0 and not self._stop.requested:
            self._clock.sleep(min(SLICE, seconds))
            seconds -= SLICE
            self._queue.keep()
