"""Read the SQS queues of a template."""

from __future__ import annotations

import json
from datetime import timedelta

from recoverable_operate.check.cloudformation.document import TemplateError
from recoverable_operate.check.cloudformation.intrinsics import Scope
from recoverable_operate.check.cloudformation.properties import Properties
from recoverable_operate.check.cloudformation.reading import QUEUE, maybe, resources
from recoverable_operate.check.known import Unknown
from recoverable_operate.check.sqs import AWS_KEY, DEFAULT_RETENTION, DEFAULT_VISIBILITY, Queue, Redrive

SECOND = timedelta(seconds=1)
LONGEST_VISIBILITY, LONGEST_RETENTION = 43_200, 1_209_600  # seconds; SQS API reference, SetQueueAttributes


def queues_of(scope: Scope) -> dict[str, Queue]:
    """Return the queues of a template, by their ARNs."""
    found = [queue_of(properties) for properties in resources(scope, QUEUE)]
    return {queue.arn: queue for queue in found}


def queue_of(properties: Properties) -> Queue:
    """Return one queue."""
    named = properties.scope.attributes[properties.where]
    return Queue(
        name=named["QueueName"],
        arn=named["Arn"],
        fifo=maybe(lambda: properties.flag("FifoQueue", default=False)),
        visibility_timeout=maybe(
            lambda: seconds(properties, "VisibilityTimeout", DEFAULT_VISIBILITY, LONGEST_VISIBILITY)
        ),
        retention=maybe(lambda: seconds(properties, "MessageRetentionPeriod", DEFAULT_RETENTION, LONGEST_RETENTION)),
        redrive=maybe(lambda: redrive_of(properties)),
        key=key_of(properties),
    )


def seconds(properties: Properties, name: str, default: timedelta, most: int) -> timedelta:
    """Return a property that is a time in seconds."""
    return timedelta(seconds=properties.number(name, default // SECOND, maximum=most))


def redrive_of(properties: Properties) -> Redrive | None:
    """Return the redrive policy of a queue, which may be written as JSON in a string."""
    policy = properties.get("RedrivePolicy")
    if isinstance(policy, str):
        policy = from_json(policy, properties.where)
    if not policy:
        return None
    if not isinstance(policy, dict):
        raise TemplateError(f"{properties.where}.RedrivePolicy is {policy!r:.80}; it must be a mapping")
    read = Properties(f"{properties.where}.RedrivePolicy", policy, properties.scope)
    target = read.required("deadLetterTargetArn", "!GetAtt ErrorQueue.Arn")
    return Redrive(target, read.number("maxReceiveCount", 10, minimum=1, maximum=1000))


def from_json(text: str, where: str) -> object:
    """Return the value of a JSON text.

    Raises:
        TemplateError: it is none.
    """
    try:
        return json.loads(text)
    except ValueError as error:
        raise TemplateError(f"{where}.RedrivePolicy is {text!r:.80}, which is no JSON") from error


def key_of(properties: Properties) -> str | Unknown | None:
    """Return the KMS key of a queue; None where it takes no permission."""
    key = maybe(lambda: properties.get("KmsMasterKeyId"))
    if not isinstance(key, str) or key == AWS_KEY:
        return key if isinstance(key, Unknown) else None
    if key.startswith("alias/"):
        return Unknown(f"{properties.where} has the key {key}, and which key that is an alias of is known in AWS alone")
    return key
