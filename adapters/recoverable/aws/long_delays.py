"""Copies that must wait longer than SQS delays them: they are stored, and a dispatcher sends them when they are due."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, TypeAlias

from recoverable.aws.client import Broker, describe_error
from recoverable.aws.copies import Copy
from recoverable.headers import DUE_AT, read_date
from recoverable.observe.log import log_safely
from recoverable.recovery.delivery import Delivery
from recoverable.timeouts import TooLarge

if TYPE_CHECKING:
    from collections.abc import Callable

    from recoverable.timeouts import Timeouts

Storing: TypeAlias = Literal["stored", "failed", "hops"]

log = logging.getLogger("recoverable.settlement")


def store_long_delays(copies: list[Copy], timeouts: Timeouts, broker: Broker) -> tuple[list[Copy], list[Delivery]]:
    """Store the copies that would hop, and delete what they were made of.

    Returns:
        The copies that are to be sent, those among them that the store can never take; and the deliveries whose copy is neither.
    """
    by_end: dict[Storing, list[Copy]] = {"stored": [], "failed": [], "hops": []}
    for copy in copies:
        by_end[stored(copy, timeouts, broker.time.for_call)].append(copy)
    broker.delete([copy.delivery for copy in by_end["stored"]])
    return by_end["hops"], [copy.delivery for copy in by_end["failed"]]


def stored(copy: Copy, timeouts: Timeouts, has_time: Callable[[], bool]) -> Storing:
    """Store a copy that is not due when SQS would deliver it; it says so itself, and so hops where it cannot be stored at all.

    Args:
        copy: of a message that goes back to the queue it came from.
        timeouts: where.
        has_time: whether another call can still be made.
    """
    due_at = read_date(copy.wire.headers, DUE_AT)
    if due_at is None or due_at - timeouts.now() <= timedelta(seconds=copy.entry.get("DelaySeconds", 0)):
        return "hops"  # SQS delivers it when it is due; a store would be up to a minute late
    if not has_time():
        return failed(copy, "no time is left for the call")
    try:
        timeouts.hold(copy.entry, to=copy.delivery.message.native["eventSourceARN"], at=due_at)
    except TooLarge:
        return "hops"
    except Exception as error:  # noqa: BLE001  # whatever it is, it is told, and the message stays
        return failed(copy, describe_error(error))
    return "stored"


def failed(copy: Copy, why: str) -> Storing:
    """Log that a copy is not stored, and what becomes of its message."""
    message = copy.delivery.message
    text = "A copy of message '%s' of '%s' could not be stored for later: %s. As a result, the message stays, and comes back after its visibility timeout."
    extra = {"message_id": message.id, "queue": message.queue}
    log_safely(log.warning, text, message.id, message.queue, why, extra=extra)
    return "failed"
