"""Keep messages hidden for a short time at once, for as long as an invocation has them."""

from __future__ import annotations

import logging
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from recoverable._sqs.batches import MAX_ENTRIES
from recoverable._sqs.queues import LONGEST_VISIBILITY

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime

    from recoverable._message import Message

    Hide: TypeAlias = Callable[[list[Message], int], tuple[Sequence[Message], bool]]
    Later: TypeAlias = Callable[[float, Callable[[], None]], Callable[[], None]]

log = logging.getLogger("recoverable")

BEATS = 4
"""Beats in the time for which a message is hidden: two in a row may be lost."""

TWELVE_HOURS = (
    "%d messages have been hidden for 12 hours, the longest that SQS allows. They will be delivered again while their handlers still run. "
    "Check what these handlers wait for, and give that a time-out."
)

LOOK_EVERY = 0.01
"""Seconds between two looks whether something has ended that another thread does."""


class Beats:
    """Keeps messages hidden, so many seconds at a time.

    Each call concerns ten messages at most. What a call is under way for is never settled beside it: a late answer
    could otherwise hide a message that was just shown again.

    Args:
        seconds: for how long a message is hidden at a time.
        hide: hides up to ten messages for so many seconds; it returns those that SQS does not hide any more, and True
            if all other calls would fail too.
        later: calls a function after so many seconds, beside the handlers, and returns a function that cancels that.
        sleep: waits for so many seconds.
        clock: returns the time.
    """

    def __init__(
        self, seconds: int, hide: Hide, *, later: Later, sleep: Callable[[float], None], clock: Callable[[], datetime]
    ) -> None:
        self.hides_for = seconds
        self._hide, self._later, self._sleep, self._clock = hide, later, sleep, clock
        self._began, self._lock = clock(), Lock()
        self._held: dict[Message, None] = {}
        self._calling: Collection[Message] = ()
        self._cancel: Callable[[], None] = lambda: None

    def begin(self, messages: Sequence[Message]) -> None:
        """Hide the messages for the first time, and again at each beat."""
        self._held = dict.fromkeys(messages)
        self._beat()

    def release(self, messages: Collection[Message]) -> None:
        """Extend these no more, and wait for a call that is under way for one of them: they are being settled."""
        with self._lock:
            for message in messages:
                self._held.pop(message, None)
        while not set(self._calling).isdisjoint(messages):
            self._sleep(LOOK_EVERY)

    def close(self) -> None:
        """End the heartbeat: once this returns, no call is under way and none follows."""
        with self._lock:
            self._held.clear()
            self._cancel()
        while self._calling:
            self._sleep(LOOK_EVERY)

    def _beat(self) -> None:
        seconds = min(self.hides_for, int(LONGEST_VISIBILITY - (self._clock() - self._began).total_seconds()))
        waiting = list(self._held) if seconds > 0 else []
        if seconds <= 0:
            log.error(TWELVE_HOURS, len(self._held))
        while batch := self._next_batch(waiting):
            try:
                gone, fails = self._hide(batch, seconds)
            finally:
                self._calling = ()
            with self._lock:
                for message in gone:
                    self._held.pop(message, None)
            if fails:
                break
        with self._lock:
            if self._held and seconds > 0:
                self._cancel = self._later(self.hides_for / BEATS, self._beat)

    def _next_batch(self, waiting: list[Message]) -> list[Message]:
        """Take the next ten that are still held out of those that wait for this beat, and note that a call is under way for them."""
        with self._lock:
            batch: list[Message] = []
            while waiting and len(batch) < MAX_ENTRIES:
                message = waiting.pop(0)
                if message in self._held:
                    batch.append(message)
            self._calling = batch
            return batch
