"""Name the batch operations of SQS, and log what happens to the messages for which one failed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from recoverable._ladder.delivery import Delivery
from recoverable._ladder.redaction import Redact
from recoverable._observe.log import log_safely
from recoverable._sqs.answers import Failure
from recoverable._sqs.queues import Queue
from recoverable.aws._copies import Copy

log = logging.getLogger("recoverable.settlement")

Call = Callable[[Any, str, Any], Any]


class BatchOperation(NamedTuple):
    """A batch operation of SQS.

    `consequence` says, for the log, what happens to messages for which it failed, and what to do.
    """

    name: str
    call: Call
    consequence: str


SEND = BatchOperation(
    "SendMessageBatch",
    lambda client, url, entries: client.send_message_batch(QueueUrl=url, Entries=entries),
    "They stay on the queue and will be redelivered after their visibility timeout. "
    "Check Failed(error_queue) and the permission sqs:SendMessage.",
)
PUBLISH = BatchOperation(
    "PublishBatch",
    lambda client, arn, entries: client.publish_batch(TopicArn=arn, PublishBatchRequestEntries=entries),
    "The message that published them is not completed, and will be attempted again. Check the permission sns:Publish.",
)
DELETE = BatchOperation(
    "DeleteMessageBatch",
    lambda client, url, entries: client.delete_message_batch(QueueUrl=url, Entries=entries),
    "They are not reported as failed: the event source mapping deletes them, or they are redelivered if the invocation "
    "fails. Check the permission sqs:DeleteMessage.",
)
CHANGE_VISIBILITY = BatchOperation(
    "ChangeMessageVisibilityBatch",
    lambda client, url, entries: client.change_message_visibility_batch(QueueUrl=url, Entries=entries),
    "It is repeated once.",
)
REPEAT_CHANGE = CHANGE_VISIBILITY._replace(
    consequence="They will be redelivered after their visibility timeout, not after the delay that was decided. "
    "Check the permission sqs:ChangeMessageVisibility."
)


REFUSED = (
    "They wait on '{source}' and are sent again without running their handler, up to 15 minutes apart. "
    "Check Failed(error_queue): the queue '{to}' must exist, and the function needs the permission sqs:SendMessage on it."
)
"""What happens to messages whose copies another queue refused for good."""


def log_failed_copies(failed: list[tuple[Copy, Failure]], source: Queue, redact: Redact | None) -> None:
    """Log the copies that failed, by queue and by what follows; a queue that refuses for good is an error."""
    groups: dict[tuple[Queue, bool], list[tuple[Copy, Failure]]] = {}
    for copy, failure in failed:
        groups.setdefault((copy.to, failure.kind == "refused" and copy.to != source), []).append((copy, failure))
    for (to, for_good), group in groups.items():
        reasons = "; ".join(sorted({failure.reason for _, failure in group}))
        consequence = REFUSED.format(source=source.name, to=to.name) if for_good else SEND.consequence
        operation = SEND._replace(consequence=consequence)
        deliveries = [copy.delivery for copy, _ in group]
        log_failed_call(operation, to, deliveries, reasons, redact, logging.ERROR if for_good else logging.WARNING)


def log_failed_call(
    operation: BatchOperation,
    queue: Queue,
    deliveries: list[Delivery],
    reason: str,
    redact: Redact | None,
    level: int = logging.WARNING,
) -> None:
    """Log that a call failed for some messages, what happens to them, and what to do.

    Args:
        operation: what was called.
        queue: where.
        deliveries: those for which it failed.
        reason: what SQS answered, which may quote what was sent.
        redact: the user's redactor.
        level: of the line.
    """
    messages = [delivery.message for delivery in deliveries]
    source = messages[0].queue
    name = operation.name if queue.name == source else f"{operation.name} to '{queue.name}'"
    text = "SQS %s failed for %d messages from '%s' (%s). %s"
    extra = {"message_ids": [message.id for message in messages], "queue": queue.name}
    write = log.error if level == logging.ERROR else log.warning
    log_safely(write, text, name, len(messages), source, reason, operation.consequence, extra=extra, redact=redact)
