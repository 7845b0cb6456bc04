"""Parse `AWS::SQS::Queue` into a Queue."""

from __future__ import annotations

from datetime import timedelta

from recoverable_local.lambda_host.sam.stack import Queue, Redrive
from recoverable_operate.templates import Properties, TemplateError, as_text, redrive_of

_ATTRIBUTES = {
    "ContentBasedDeduplication",
    "DeduplicationScope",
    "DelaySeconds",
    "FifoThroughputLimit",
    "MaximumMessageSize",
    "MessageRetentionPeriod",
    "ReceiveMessageWaitTimeSeconds",
}
_PARSED = {"QueueName", "FifoQueue", "VisibilityTimeout", "RedrivePolicy"}
_WITHOUT_EFFECT_HERE = {
    "KmsDataKeyReusePeriodSeconds",
    "KmsMasterKeyId",
    "RedriveAllowPolicy",
    "SqsManagedSseEnabled",
    "Tags",
}
_PROPERTIES = _ATTRIBUTES | _PARSED | _WITHOUT_EFFECT_HERE
_LONGEST_VISIBILITY = 43_200  # seconds; SQS API reference, SetQueueAttributes


def parse_queue(properties: Properties) -> Queue:
    """Parse one queue.

    Raises:
        TemplateError: A property is unknown or has a value that SQS does not accept.
    """
    properties.refuse_unknown(_PROPERTIES, of="a queue")
    fifo = properties.flag("FifoQueue", default=False)
    visibility = properties.number("VisibilityTimeout", 30, maximum=_LONGEST_VISIBILITY)
    return Queue(
        logical_id=properties.where,
        name=queue_name(properties),
        fifo=fifo,
        visibility_timeout=timedelta(seconds=visibility),
        attributes={name: as_text(properties.get(name)) for name in sorted(_ATTRIBUTES & set(properties.values))},
        redrive=_redrive(properties),
    )


def queue_name(properties: Properties) -> str:
    """Return the queue's name on the broker: its `QueueName`, or its logical id if the template sets none.

    Raises:
        TemplateError: The name of a FIFO queue does not end in `.fifo`, or that of a standard queue does.
    """
    ending = ".fifo" if properties.flag("FifoQueue", default=False) else ""
    name = properties.text("QueueName", properties.where + ending)
    if name.endswith(".fifo") != bool(ending):
        raise TemplateError(
            f"{properties.where}: the name {name!r} and FifoQueue {bool(ending)} do not fit;"
            " the names of FIFO queues, and only they, end in .fifo."
        )
    return name


def _redrive(properties: Properties) -> Redrive | None:
    policy = redrive_of(properties)
    if policy is None:
        return None
    target = policy.target.rpartition(":")[2]
    if target.endswith(".fifo") != properties.flag("FifoQueue", default=False):
        raise TemplateError(
            f"{properties.where}.RedrivePolicy names {target!r}; SQS takes a FIFO queue for a FIFO queue, and a standard queue for a standard one."
        )
    return Redrive(target, policy.max_receive_count)
