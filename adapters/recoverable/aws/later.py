"""Copies that must wait longer than SQS delays them: they are stored, and a dispatcher sends them when they are due."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from ..delivery import Delivery
from ..observe import written
from .client import told
from .copies import Copy

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..timeouts import Timeouts

log = logging.getLogger("recoverable.settlement")


class Later(NamedTuple):
    """Where copies are stored, and from which delay on."""

    timeouts: Timeouts
    longest_delay: timedelta

    def wants(self, copy: Copy) -> bool:
        """Whether the copy must wait longer than SQS is to delay it."""
        return delay_of(copy) > self.longest_delay


def stored(copies: list[Copy], later: Later, has_time: Callable[[], bool]) -> list[Delivery]:
    """Store copies; the deliveries whose copy is there come back, and of the others the log is told.

    Args:
        copies: of messages that go back to the queue they came from.
        later: where.
        has_time: whether another call can still be made.
    """
    return [copy.delivery for copy in copies if is_stored(copy, later, has_time)]


def is_stored(copy: Copy, later: Later, has_time: Callable[[], bool]) -> bool:
    """Store a copy; whether that is done."""
    if not has_time():
        return tell(copy, "no time is left for the call")
    try:
        later.timeouts.hold(
            copy.entry, to=copy.delivery.message.native["eventSourceARN"], delay=delay_of(copy)
        )
    except Exception as error:  # noqa: BLE001  # whatever it is, it is told, and the message stays
        return tell(copy, told(error))
    return True


def delay_of(copy: Copy) -> timedelta:
    """How long the copy waits; one for a FIFO queue says nothing, and does not wait."""
    return timedelta(seconds=copy.entry.get("DelaySeconds", 0))


def tell(copy: Copy, why: str) -> bool:
    """Log that a copy is not stored, and what becomes of its message."""
    message = copy.delivery.message
    text = "A copy of message '%s' of '%s' could not be stored for later: %s. As a result, the message stays, and comes back after its visibility timeout."
    extra = {"message_id": message.id, "queue": message.queue}
    written(log.warning, text, message.id, message.queue, why, extra=extra)
    return False
