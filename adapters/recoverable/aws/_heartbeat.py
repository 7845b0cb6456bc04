"""Keep messages hidden for a short time at once, for as long as an invocation has them."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from contextvars import copy_context
from datetime import timedelta
from math import ceil
from threading import Lock, Timer
from typing import TYPE_CHECKING, TypeAlias

from recoverable._ladder.delivery import delivery_of
from recoverable._sqs.batches import CHANGE_VISIBILITY, MAX_ENTRIES
from recoverable._sqs.broker import Broker
from recoverable._sqs.queues import LONGEST_VISIBILITY
from recoverable.aws._settle import log_failed_call, receipt
from recoverable.aws._time_budget import TimeBudget

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from recoverable._ladder.delivery import Delivery
    from recoverable.aws._batch import Batch

    Hide: TypeAlias = Callable[[list[Delivery], int], tuple[list[Delivery], bool]]
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
        elapsed: returns the seconds since the messages were received.
    """

    late = False

    def __init__(
        self, seconds: int, hide: Hide, *, later: Later, sleep: Callable[[float], None], elapsed: Callable[[], float]
    ) -> None:
        self.seconds = seconds
        self._hide, self._later, self._sleep, self._elapsed = hide, later, sleep, elapsed
        self._lock = Lock()
        self._held: dict[Delivery, None] = {}
        self._calling: Collection[Delivery] = ()
        self._cancel: Callable[[], None] = lambda: None

    def begin(self, deliveries: list[Delivery]) -> None:
        """Hide the messages for the first time, and again at each beat."""
        self._held = dict.fromkeys(deliveries)
        self._beat()

    def claim(self, deliveries: list[Delivery]) -> list[Delivery]:
        """Return all: nobody else settles."""
        return deliveries

    def end(self, deliveries: Collection[Delivery]) -> None:
        """Extend these no more, and wait for a call that is under way for one of them: they are being settled."""
        with self._lock:
            for delivery in deliveries:
                self._held.pop(delivery, None)
        while not set(self._calling).isdisjoint(deliveries):
            self._sleep(LOOK_EVERY)

    def end_all(self) -> None:
        """End the heartbeat: once this returns, no call is under way and none follows."""
        with self._lock:
            self._held.clear()
            self._cancel()
        while self._calling:
            self._sleep(LOOK_EVERY)

    def _beat(self) -> None:
        seconds = min(self.seconds, int(LONGEST_VISIBILITY - self._elapsed()))
        waiting = list(self._held) if seconds > 0 else []
        if seconds <= 0:
            log.error(TWELVE_HOURS, len(self._held))
        while batch := self._next_batch(waiting):
            try:
                gone, fails = self._hide(batch, seconds)
            finally:
                self._calling = ()
            with self._lock:
                for delivery in gone:
                    self._held.pop(delivery, None)
            if fails:
                break
        with self._lock:
            if self._held and seconds > 0:
                self._cancel = self._later(self.seconds / BEATS, self._beat)

    def _next_batch(self, waiting: list[Delivery]) -> list[Delivery]:
        """Take the next ten that are still held out of those that wait for this beat, and note that a call is under way for them."""
        with self._lock:
            batch: list[Delivery] = []
            while waiting and len(batch) < MAX_ENTRIES:
                delivery = waiting.pop(0)
                if delivery in self._held:
                    batch.append(delivery)
            self._calling = batch
            return batch


NOT_REPEATED = (
    "Their heartbeat is tried again at the next beat; without it they become visible while this instance still has them, or "
    "a crash is noticed late. Check the permission sqs:ChangeMessageVisibility."
)
REFUSED = (
    "Their heartbeat ends: they were deleted, or hidden for 12 hours, which is the longest that SQS allows; on a FIFO queue another instance "
    "may have them, too. Raise the queue's visibility timeout, or lower the batching window."
)


@contextmanager
def hidden_by_heartbeat(hidden: timedelta, batch: Batch) -> Iterator[None]:
    """Keep the messages of an invocation hidden while the block runs: begun before the first handler runs, ended when the block ends.

    Args:
        hidden: for how long the messages are hidden at a time.
        batch: has the messages; its invocation gets the heartbeat.
    """
    batch.invocation.heartbeat = beats = beats_for(hidden, batch)
    try:
        beats.begin([delivery_of(message) for message in batch.messages])
        yield
    finally:
        beats.end_all()


def beats_for(hidden: timedelta, batch: Batch) -> Beats:
    """Return the heartbeat of an invocation, which has not begun."""
    # a division of its own: its calls are made beside those of the invocation, and are bounded like them
    environment, beside = batch.environment, TimeBudget(None, timedelta(seconds=2 * batch.time.call_timeout))
    broker, began = Broker(batch.queue, environment, beside), environment.clock().timestamp()
    return Beats(
        ceil(hidden.total_seconds()),
        lambda deliveries, seconds: hide(deliveries, seconds, broker, batch),
        later=environment.later or call_later,
        sleep=environment.sleep,
        elapsed=lambda: environment.clock().timestamp() - began,
    )


def hide(deliveries: list[Delivery], seconds: int, broker: Broker, batch: Batch) -> tuple[list[Delivery], bool]:
    """Hide messages for so many seconds from now.

    Returns:
        Those that SQS does not hide any more; and True if the call failed as a whole, so that others would fail too.
    """
    entries = [{**receipt(delivery), "VisibilityTimeout": seconds} for delivery in deliveries]
    lease, redact, now = batch.lease, batch.invocation.redact, batch.invocation.clock().timestamp()
    failures, as_a_whole = broker.call(CHANGE_VISIBILITY, broker.queue, entries)
    gone = [deliveries[n] for n, each in failures.items() if each.is_for_good and not as_a_whole]
    missed = [deliveries[n] for n in failures if deliveries[n] not in gone]
    reasons = {failure.reason for failure in failures.values()}
    unconfirmed = [deliveries[n] for n, failure in failures.items() if failure.may_be_done]
    lease.note_change(unconfirmed, now + seconds, confirmed=False)
    lease.note_change([each for n, each in enumerate(deliveries) if n not in failures], now + seconds, confirmed=True)
    level = logging.WARNING
    if any(failure.kind == "denied" for failure in failures.values()):
        level, lease.queue.memory.denied_at = logging.ERROR, now
    for consequence, concerned in ((REFUSED, gone), (NOT_REPEATED, missed)):
        if concerned:
            log_failed_call(CHANGE_VISIBILITY, broker.queue, concerned, reasons, consequence, redact, level)
    return gone, as_a_whole


def call_later(seconds: float, function: Callable[[], None]) -> Callable[[], None]:
    """Call a function after so many seconds, in a thread that does not hold up the end of the process; return a function that cancels that."""
    timer = Timer(seconds, copy_context().run, args=(function,))
    timer.name, timer.daemon = "recoverable-heartbeat", True
    timer.start()
    return timer.cancel
