"""One invocation: its records in their order through their attempts, each group settled before the next; and its time."""

from __future__ import annotations

import logging
from datetime import timedelta

from ..limits import NO_DELAY
from ..settlements import COMPLETE, Redeliver
from .order import groups

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from ..attempt import Invocation
    from ..delivery import Delivery
    from ..settlements import Settlement
    from .client import Broker
    from .queues import Queue

    Drive: TypeAlias = Callable[[list[Delivery], Invocation], list[Settlement]]

log = logging.getLogger("recoverable")

LONGEST_VISIBILITY = 43_200
"""Seconds for which SQS keeps a message out of sight, counted from its receive (Amazon SQS visibility timeout)."""

LONGEST_INVOCATION = timedelta(seconds=900)
"""A Lambda function runs for 15 minutes at most (Lambda quotas)."""

SHORTEST_PATIENCE = 0.2
"""Seconds that a call to SQS gets at least: some ten times what it takes when all is well."""


class TimeBudget:
    """The invocation's time, of which a part is kept for settling.

    Args:
        context: Lambda's; without one, or without its clock, there is no limit.
        settle_within: the part kept; at most half of what there is, for a function with less must still get on.
    """

    __slots__ = ("_remaining", "_reserve", "total")

    def __init__(self, context: Any, settle_within: timedelta) -> None:
        self._reserve = settle_within.total_seconds()
        self._remaining: Callable[[], float] | None = getattr(context, "get_remaining_time_in_millis", None)
        self.total = self._remaining() / 1000 if self._remaining else LONGEST_INVOCATION.total_seconds()
        if self._reserve > self.total / 2:
            text = "This invocation has %.1f s, of which %.1f s should be kept for settling: raise the function's time-out, or lower settle_within."
            log.warning(text, self.total, self._reserve)
            self._reserve = self.total / 2

    @property
    def patience(self) -> float:
        """Seconds for one call to SQS, in tenths, for each patience has a client of its own."""
        return max(int(self._reserve / 2 * 10) / 10, SHORTEST_PATIENCE)

    @property
    def for_handlers(self) -> Callable[[], float] | None:
        """How many seconds handlers may still run; None when there is no limit."""
        return self._seconds_for_handlers if self._remaining else None

    def for_call(self) -> bool:
        """Whether a call to SQS would end before the invocation does."""
        return self._remaining is None or self._remaining() / 1000 > self.patience

    def _seconds_for_handlers(self) -> float:
        return (self._remaining() if self._remaining else 0) / 1000 - self._reserve


class Batch:
    """The records of one invocation.

    Args:
        queue: where they came from.
        drive: runs a row of deliveries.
        invocation: what the attempts run in.
        time: the invocation's time.
        broker: gives the broker, when there is something to tell it.
        partial: whether the event source mapping deletes what is not reported.
    """

    __slots__ = ("_broker", "_drive", "_invocation", "_partial", "_queue", "_time")

    def __init__(
        self,
        queue: Queue,
        drive: Drive,
        invocation: Invocation,
        time: TimeBudget,
        broker: Callable[[], Broker],
        *,
        partial: bool,
    ) -> None:
        self._queue, self._drive, self._invocation, self._time = queue, drive, invocation, time
        self._broker, self._partial = broker, partial

    def run(self, deliveries: list[Delivery]) -> list[Delivery]:
        """Run and settle all; what comes back is not done with."""
        fifo = self._queue.fifo
        if fifo and len(deliveries) > 1:
            self._forgive_held_back(deliveries)
        left: list[Delivery] = []
        rows = groups(deliveries, fifo=fifo)
        for row in rows:
            settlements = self._held_back(row, left) or self._drive(row, self._invocation)
            left += self._settled(row, settlements, left, last=row is rows[-1])
        return left

    def _held_back(self, row: list[Delivery], left: list[Delivery]) -> list[Settlement] | None:
        """A FIFO record behind one of its group that comes back must come back too, or the order is lost."""
        if (
            left
            and self._queue.fifo
            and row[0].message.group_id in {delivery.message.group_id for delivery in left}
        ):
            return [Redeliver(NO_DELAY)]
        return None

    def _settled(
        self, row: list[Delivery], settlements: list[Settlement], left: list[Delivery], *, last: bool
    ) -> list[Delivery]:
        """The deliveries of a group that are not done with, after the broker was told what can be told now."""
        good = settlements.count(COMPLETE) == len(row)
        fails = self._invocation.interruption is not None or not (self._partial or (good and not left))
        complete_now = fails or not last  # an invocation that fails has nothing deleted by the mapping
        if good and not complete_now:
            return []
        from .settling import settle  # noqa: PLC0415  # the failure side of this platform

        longest = LONGEST_VISIBILITY - self._time.total
        return settle(
            zip(row, settlements, strict=True),
            self._broker(),
            longest_visibility=longest,
            complete_now=complete_now,
        )

    def _forgive_held_back(self, deliveries: list[Delivery]) -> None:
        text = "A batch of %d records from the FIFO queue '%s': what is held back uses up deliveries. Set the event source mapping's BatchSize to 1."
        log.warning(text, len(deliveries), self._queue.name)
        for delivery in deliveries:
            delivery.wordless = False
