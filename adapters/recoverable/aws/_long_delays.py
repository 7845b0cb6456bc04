"""Store copies that must wait longer than SQS can delay them; a dispatcher sends them when they are due."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, TypeAlias

from recoverable._ladder.delivery import Delivery
from recoverable._observe.log import log_safely
from recoverable._sqs.answers import describe_error
from recoverable._sqs.broker import Broker, redactor_in
from recoverable.aws._copies import Copy
from recoverable.headers import DUE_AT, read_date
from recoverable.timeouts import TooLarge

if TYPE_CHECKING:
    from recoverable.aws._time_budget import TimeBudget
    from recoverable.timeouts import Timeouts

StoreResult: TypeAlias = Literal["stored", "failed", "hops"]

log = logging.getLogger("recoverable.settlement")


def store_long_delays(copies: list[Copy], timeouts: Timeouts, broker: Broker) -> tuple[list[Copy], list[Delivery]]:
    """Store the copies that would hop, and delete their originals.

    Returns:
        The copies to send, with those that are too large for the store; and the deliveries whose copy could not be
        stored.
    """
    by_result: dict[StoreResult, list[Copy]] = {"stored": [], "failed": [], "hops": []}
    for copy in copies:
        by_result[store_copy(copy, timeouts, broker.time)].append(copy)
    broker.delete([copy.delivery for copy in by_result["stored"]])
    return by_result["hops"], [copy.delivery for copy in by_result["failed"]]


def store_copy(copy: Copy, timeouts: Timeouts, time: TimeBudget) -> StoreResult:
    """Store a copy that is not due when SQS would deliver it.

    Args:
        copy: of a message that goes back to the queue it came from.
        timeouts: stores it.
        time: the invocation's.

    Returns:
        "stored", "failed" after a line in the log, or "hops": SQS can take it, for it carries the date when it is due.
    """
    due_at = read_date(copy.wire.headers, DUE_AT)
    if due_at is None or due_at - timeouts.now() <= timedelta(seconds=copy.entry.get("DelaySeconds", 0)):
        return "hops"  # SQS delivers it when it is due; a store would be up to a minute late
    if not time.for_call():
        log_not_stored(copy, "no time is left for the call", time)
        return "failed"
    try:
        timeouts.hold(copy.entry, to=copy.delivery.native["eventSourceARN"], at=due_at)
    except TooLarge:
        return "hops"
    except Exception as error:  # noqa: BLE001  # logged; the message stays on its queue
        log_not_stored(copy, describe_error(error), time)
        return "failed"
    return "stored"


def log_not_stored(copy: Copy, reason: str, time: TimeBudget) -> None:
    """Log that a copy is not stored, and what happens to its message."""
    message = copy.delivery.message
    text = (
        "Storing the delayed copy of message '%s' from '%s' failed (%s). The message stays on the queue and will be "
        "redelivered after its visibility timeout. Check the store in Timeouts(store)."
    )
    extra = {"message_id": message.id, "queue": message.queue}
    log_safely(log.warning, text, message.id, message.queue, reason, extra=extra, redact=redactor_in(time))
