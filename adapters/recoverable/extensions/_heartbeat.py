"""Keep messages hidden for a short time at once, for as long as an invocation has them."""

from __future__ import annotations

from datetime import timedelta
from math import ceil
from typing import TYPE_CHECKING

from recoverable._limits import checked_delay
from recoverable._sqs.beats import Beats
from recoverable._sqs.queues import LONGEST_VISIBILITY

if TYPE_CHECKING:
    from recoverable.hosting import Batch, Setup


class Heartbeat:
    """An extension of SQS endpoints that hides messages for a short time at once, for as long as an invocation has them.

    A crash is noticed that soon. A beat comes after a quarter of that time. A call of it may take half of
    `settle_within`: with less than twice that, one that gets no answer would leave no time for the next.

    Args:
        hidden: for how long messages are hidden at a time, such as two minutes; at least a second and twice
            `settle_within`, 12 hours at most.

    Raises:
        TypeError: it is no duration.
        ValueError: it is out of range.
    """

    def __init__(self, hidden: timedelta) -> None:
        self._hidden = checked_delay("Heartbeat(hidden)", hidden, timedelta(seconds=LONGEST_VISIBILITY))

    def prepare(self, setup: Setup) -> None:
        """Check that it can serve an endpoint.

        Raises:
            TypeError: the endpoint reads no SQS queue.
            ValueError: the time is too short for its `settle_within`, or it has another heartbeat.
        """
        if setup.settle_within is None:
            raise TypeError(
                f"{setup.owner}(extensions) has a Heartbeat, which is for SQS; Service Bus renews locks: leave it out"
            )
        least = max(2 * setup.settle_within, timedelta(seconds=1))
        if self._hidden < least:
            raise ValueError(
                f"Heartbeat(hidden) is {self._hidden}; write {least} or more, which is twice settle_within"
            )
        if sum(isinstance(each, Heartbeat) for each in setup.extensions) > 1:
            raise ValueError(f"{setup.owner}(extensions) has two Heartbeats; leave one out")

    def open(self, batch: Batch) -> Beats:
        """Hide the messages of an invocation from now on."""
        seconds = ceil(self._hidden.total_seconds())
        beats = Beats(seconds, batch.change_visibility, later=batch.later, sleep=batch.sleep, clock=batch.clock)
        beats.begin(batch.messages)
        return beats
