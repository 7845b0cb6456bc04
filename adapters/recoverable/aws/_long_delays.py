"""Store copies that must wait longer than SQS can delay them; a dispatcher sends them when they are due."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, NamedTuple

from recoverable._observe.log import log_safely
from recoverable._sqs.answers import describe_error
from recoverable.headers import DUE_AT, read_date
from recoverable.timeouts import TooLarge

if TYPE_CHECKING:
    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.faults import Redact
    from recoverable.aws._copies import Copy
    from recoverable.aws._time_budget import TimeBudget
    from recoverable.timeouts import Timeouts

log = logging.getLogger("recoverable.settlement")


class Stored(NamedTuple):
    """The result of storing copies.

    Args:
        hops: the copies to send, with those that are too large for the store.
        stored: the originals of those that are stored.
        failed: the originals of those that could not be stored.
    """

    hops: list[Copy]
    stored: list[Delivery]
    failed: list[Delivery]


def store_long_delays(copies: list[Copy], timeouts: Timeouts, time: TimeBudget, redact: Redact | None) -> Stored:
    """Store the copies that would hop.

    Args:
        copies: all copies of a group.
        timeouts: stores them.
        time: the invocation's.
        redact: the user's redactor, for the log.
    """
    result = Stored([], [], [])
    for copy in copies:
        match store_copy(copy, timeouts, time):
            case "hops":
                result.hops.append(copy)
            case "stored":
                result.stored.append(copy.delivery)
            case Failed(reason):
                log_not_stored(copy, reason, redact)
                result.failed.append(copy.delivery)
    return result


class Failed(NamedTuple):
    """The result of a copy that could not be stored.

    Args:
        reason: why, for the log.
    """

    reason: str


def store_copy(copy: Copy, timeouts: Timeouts, time: TimeBudget) -> Literal["stored", "hops"] | Failed:
    """Store a copy that is not due when SQS would deliver it; "hops" where SQS can take it, for it carries the date when it is due.

    Args:
        copy: of a message that goes back to the queue it came from.
        timeouts: stores it.
        time: the invocation's.
    """
    due_at = read_date(copy.wire.headers, DUE_AT)
    if due_at is None or due_at - timeouts.now() <= timedelta(seconds=copy.entry.get("DelaySeconds", 0)):
        return "hops"  # SQS delivers it when it is due; a store would be up to a minute late
    if not time.for_call():
        return Failed("no time is left for the call")
    try:
        timeouts.hold(copy.entry, to=copy.delivery.native["eventSourceARN"], at=due_at)
    except TooLarge:
        return "hops"
    except Exception as error:  # noqa: BLE001  # logged; the message stays on its queue
        return Failed(describe_error(error.__cause__ or error))
    return "stored"


def log_not_stored(copy: Copy, reason: str, redact: Redact | None) -> None:
    """Log that a copy is not stored, and what happens to its message."""
    message = copy.delivery.message
    text = (
        "Storing the delayed copy of message '%s' from '%s' failed (%s). The message stays on the queue and will be "
        "redelivered after its visibility timeout. Check the store in Timeouts(store)."
    )
    extra = {"message_id": message.id, "queue": message.queue}
    log_safely(log.warning, text, message.id, message.queue, reason, extra=extra, redact=redact)
