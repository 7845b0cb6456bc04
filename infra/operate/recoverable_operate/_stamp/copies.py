"""Say which headers the error copy of a dead letter has. Pure."""

from __future__ import annotations

from datetime import datetime

from recoverable import Message, UnreportedFailure, headers
from recoverable._ladder import faults
from recoverable._ladder.copy_headers import Changes, content_headers
from recoverable.headers import read_date, write_date
from recoverable_operate.errors._message import FailedMessage
from recoverable_operate.errors._redrive import name_of

COUNTED = (headers.ATTEMPTS, headers.FIRST_FAILED_AT)
"""Headers about the attempts of earlier rounds, which are still about this message."""


def stamped(message: FailedMessage, source: str, failed_at: datetime) -> Changes:
    """Return the headers that the copy of a dead letter sets and removes; of an error copy it removes what held it on its way alone.

    A message that somebody sent back still has the headers of the failure before: it died anew, and they go.

    Args:
        message: the dead letter.
        source: the full address of the queue where it died, or its name.
        failed_at: when it died; the same each time the copy is made.
    """
    on_its_way = [name for name in (*headers.RETRY_HEADERS, headers.REFUSED_SINCE) if name in message.headers]
    if is_error_copy(message, source):
        return dict.fromkeys(on_its_way)
    sent_back = headers.FAILED_QUEUE_ADDRESS in message.headers
    kept = () if sent_back else COUNTED
    return {
        **dict.fromkeys(name for name in message.headers if faults.is_left_behind(name) and name not in kept),
        **dict.fromkeys(on_its_way),
        headers.MESSAGE_ID: message.id,
        headers.ORIGIN: message.headers.get(headers.ORIGIN) or message.origin,
        **({headers.TIME_SENT: write_date(message.sent_at)} if message.sent_at else {}),
        **({headers.REDRIVES: str(message.redrives + 1)} if sent_back else {}),
        **content_headers(Message(message.body or b"", headers=message.headers)),
        faults.PROCESSING_ENDPOINT: name_of(source),
        faults.FAILED_QUEUE: name_of(source),
        headers.FAILED_QUEUE_ADDRESS: source,
        faults.EXCEPTION_TYPE: faults.type_name(UnreportedFailure()),
        faults.EXCEPTION_MESSAGE: message.reason or (RECEIVED_TOO_OFTEN if message.source else NO_REASON),
        faults.TIME_OF_FAILURE: write_date(failed_at),
    }


NO_REASON = "The message was in a dead-letter queue, and nothing says how it came there"
RECEIVED_TOO_OFTEN = (
    "SQS received the message more often than its queue's maxReceiveCount allows, and no outcome was recorded"
)


def is_error_copy(message: FailedMessage, source: str) -> bool:
    """True if a message has the headers of a failure elsewhere than in the queue where it died, or was on its way to the error queue."""
    found = message.headers
    whole = {faults.FAILED_QUEUE, faults.EXCEPTION_TYPE, headers.MESSAGE_ID} <= found.keys()
    if not whole or read_date(found, faults.TIME_OF_FAILURE) is None:
        return False
    return headers.REFUSED_SENDS in found or name_of(str(message.failed_queue)).lower() != name_of(source).lower()
