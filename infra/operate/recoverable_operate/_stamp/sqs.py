"""Stamp the dead letters of an SQS queue."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from recoverable._sqs.queues import queue_from_arn
from recoverable.hosting import current_environment, now
from recoverable_operate._stamp.copies import stamped
from recoverable_operate.errors._aws.copies import CopySender
from recoverable_operate.errors._aws.messages import arn_of, failed_message, from_milliseconds
from recoverable_operate.errors._queue import Copy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recoverable_operate.errors._message import FailedMessage

log = logging.getLogger("recoverable")

AT_ONCE = timedelta(0)
BEHIND = "one before it was not sent"


def stamp_records(event: Any, to: str) -> dict[str, list[dict[str, str]]]:
    """Send the records of an event on as error copies, and return those that were not sent.

    Of a FIFO queue one record is sent at a time, and none behind one that was not: the order stays.

    Args:
        event: Lambda's.
        to: the error queue's name or ARN.

    Raises:
        ValueError: it is no event of an SQS queue.
    """
    try:
        records = event["Records"]
        queue = queue_from_arn(own := records[0]["eventSourceARN"])
    except (IndexError, KeyError, TypeError) as error:
        raise ValueError(
            "no SQS event: connect the function of stamp(to=...) to a dead-letter queue by an event source mapping"
        ) from error
    environment = current_environment.get()  # of a test or a local host
    given = environment.client if environment else None
    sender = CopySender(queue, lambda _region: given)
    target, messages = arn_of(to, own), [failed_message(record) for record in records]
    unsent: dict[str, str] = {}
    for part in [[each] for each in messages] if queue.fifo else [messages]:
        unsent |= {each.broker_id: BEHIND for each in part} if unsent else send(sender, target, part, own)
    if unsent:
        log.error(
            "Sending %d of %d dead letters from '%s' to '%s' failed (%s). They stay there and will be redelivered. Check stamp(to), and that the"
            " function may send to that queue.",
            len(unsent), len(messages), queue.name, to, "; ".join(sorted({*unsent.values()})),
            extra={"queue": queue.name},
        )  # fmt: skip
    return {"batchItemFailures": [{"itemIdentifier": name} for name in unsent]}


def send(sender: CopySender, to: str, messages: Sequence[FailedMessage], own: str) -> dict[str, str]:
    """Send messages, and return the ids of those that were not sent, each with the reason.

    One that is refused with its new headers, such as for its size, is sent as it lies there.

    Args:
        sender: sends.
        to: the error queue's ARN.
        messages: of one queue.
        own: the ARN of that queue.
    """
    first = sender.send(to, [Copy(each, stamped_on_sqs(each, own)) for each in messages], AT_ONCE)
    refused = [each for each in messages if each.broker_id in first.refused]
    bare = sender.send(to, [Copy(each, {}) for each in refused], AT_ONCE)
    sent = {*first.sent, *bare.sent}
    unanswered = first.unanswered or bare.unanswered
    return {
        each.broker_id: bare.refused.get(each.broker_id) or unanswered
        for each in messages
        if each.broker_id not in sent
    }


def stamped_on_sqs(message: FailedMessage, own: str) -> dict[str, str | None]:
    """Return the headers of a copy.

    Args:
        message: the dead letter.
        own: the ARN of its queue, for one that was sent there by something else than SQS.
    """
    first_received = from_milliseconds(message.native.record["attributes"].get("ApproximateFirstReceiveTimestamp"))
    return stamped(message, message.source or own, first_received or message.enqueued_at or now())
