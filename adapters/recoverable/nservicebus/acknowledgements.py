"""Say which messages ServiceControl sent back and waits for, once they were handled or discarded: NServiceBus's endpoints send it a control message then."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from recoverable._observe.log import log_safely
from recoverable.headers import (
    ACKNOWLEDGEMENT_QUEUE,
    CONTROL_MESSAGE,
    MESSAGE_ID,
    RETRY_SUCCESSFUL,
    TIME_SENT,
    UNIQUE_MESSAGE_ID,
    write_date,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery

log = logging.getLogger("recoverable.settlement")

GUID = "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
"""The form in which ServiceControl writes its ids of failed messages."""

NOT_ACKNOWLEDGED = (
    "Message '%s' from '%s' was handled, and ServiceControl gets no acknowledgement (%s). It is completed all the same. "
    "ServicePulse shows its retry as pending: mark it as resolved there."
)


def acknowledgements(
    completed: Iterable[Delivery], error_queue: str, identity: Callable[[Delivery], str], invocation: Invocation
) -> Iterator[tuple[Delivery, dict[str, str]]]:
    """Yield the deliveries that ServiceControl waits for, each with the headers of the control message for the endpoint's own error queue.

    No address is taken from a header: where it names another queue, a warning is logged.

    Args:
        completed: deliveries that were handled or discarded.
        error_queue: the name of the error queue.
        identity: returns the id of a copy of a delivery for that queue.
        invocation: what they came in.
    """
    for delivery in completed:
        if (retry := delivery.carried.servicecontrol_retry) is None:
            continue
        unique_id, queue = retry
        if queue.lower() != error_queue.lower():
            why = f"{ACKNOWLEDGEMENT_QUEUE} names '{queue}', and the error queue is '{error_queue}': check Failed(error_queue)"
            log_not_acknowledged(delivery, why, invocation)
        elif not re.fullmatch(GUID, unique_id):
            log_not_acknowledged(delivery, f"{UNIQUE_MESSAGE_ID} is no GUID", invocation)
        else:
            now = write_date(invocation.clock())
            yield (
                delivery,
                {
                    RETRY_SUCCESSFUL: now,
                    UNIQUE_MESSAGE_ID: unique_id,
                    CONTROL_MESSAGE: "True",
                    TIME_SENT: now,
                    MESSAGE_ID: f"{identity(delivery)}-handled",  # else an error copy of the delivery would be its duplicate
                },
            )


def log_not_acknowledged(delivery: Delivery, why: str, invocation: Invocation) -> None:
    """Log that ServiceControl does not learn that its retry succeeded."""
    message = delivery.message
    extra = {"message_id": message.id, "queue": message.queue}
    log_safely(log.warning, NOT_ACKNOWLEDGED, message.id, message.queue, why, extra=extra, redact=invocation.redact)
