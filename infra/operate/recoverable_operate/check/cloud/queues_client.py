"""Read SQS queues: a queue with its error queue, and the alarms that watch that."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from recoverable._sqs.queues import queue_from_arn
from recoverable_operate.aws.session_client import find_queue
from recoverable_operate.check.cloud.session_client import Aws, answered, asked
from recoverable_operate.check.known import Unknown
from recoverable_operate.check.rules.alarm_rules import AGE, SENT, VISIBLE
from recoverable_operate.check.sqs import AWS_KEY, DEFAULT_RETENTION, DEFAULT_VISIBILITY, Alarm, OnSqs, Queue, Redrive


def describe_queue(aws: Aws, name: str) -> tuple[OnSqs, ...]:
    """Return a description of a queue; of an error queue, one for each queue whose dead letters it gets.

    Raises:
        OperateError: it cannot be read.
    """
    queue = queue_at(aws, name)
    sources = [queue_at(aws, source) for source in sources_of(aws, name)]
    return tuple(described(aws, each) for each in sources or [queue])


def described(aws: Aws, queue: Queue) -> OnSqs:
    """Return the description of a queue that is no error queue."""
    errors = error_queue_of(aws, queue)
    return OnSqs(queue, errors, alarms=alarms_on(aws, errors))


def sources_of(aws: Aws, name: str) -> Iterator[str]:
    """Yield the URLs of the queues whose dead letters a queue gets; none where that may not be asked."""
    client, url = find_queue(aws.sqs, name, aws.access.region)
    pages = client.get_paginator("list_dead_letter_source_queues").paginate(QueueUrl=url)
    found = asked("sqs", name, lambda: [each for page in pages for each in page["queueUrls"]])
    yield from [] if isinstance(found, Unknown) else found


def queue_at(aws: Aws, name: str) -> Queue:
    """Return a queue by its ARN, URL or name.

    Raises:
        OperateError: it cannot be read.
    """
    client, url = find_queue(aws.sqs, name, aws.access.region)
    read = answered("sqs", name, lambda: client.get_queue_attributes(QueueUrl=url, AttributeNames=["All"]))
    return queue_of(read.get("Attributes", {}), aws)


def queue_of(attributes: Mapping[Any, str], aws: Aws) -> Queue:
    """Return the queue of its attributes."""
    arn = attributes["QueueArn"]
    return Queue(
        name=arn.rpartition(":")[2],
        arn=arn,
        fifo=attributes.get("FifoQueue", "false") == "true",
        visibility_timeout=time(attributes.get("VisibilityTimeout"), DEFAULT_VISIBILITY),
        retention=time(attributes.get("MessageRetentionPeriod"), DEFAULT_RETENTION),
        redrive=redrive_of(attributes.get("RedrivePolicy")),
        key=key_of(attributes.get("KmsMasterKeyId"), arn, aws),
    )


def time(seconds: str | None, default: timedelta) -> timedelta:
    """Return a time that SQS says in seconds."""
    return default if seconds is None else timedelta(seconds=int(seconds))


def redrive_of(policy: str | None) -> Redrive | None:
    """Return a redrive policy."""
    read = json.loads(policy) if policy else None
    return Redrive(read["deadLetterTargetArn"], int(read["maxReceiveCount"])) if read else None


def key_of(key: str | None, arn: str, aws: Aws) -> str | Unknown | None:
    """Return the ARN of the KMS key of a queue; None if it takes no permission, as those that AWS manages."""
    if not key or key == AWS_KEY:
        return None
    kms = aws.client("kms", queue_from_arn(arn).region)
    found = asked("kms", f"the key {key}", lambda: kms.describe_key(KeyId=key)["KeyMetadata"])
    if isinstance(found, Unknown):
        return found
    return None if found.get("KeyManager") == "AWS" else str(found["Arn"])


def error_queue_of(aws: Aws, queue: Queue, name: str | None = None) -> Queue | Unknown | None:
    """Return the error queue of a queue: the one that is named, else the one that gets its dead letters."""
    target = named(name, queue) if name else queue.redrive.target if isinstance(queue.redrive, Redrive) else None
    if target is None:
        return None
    return asked("sqs", target, lambda: queue_at(aws, target))


def named(name: str, queue: Queue) -> str:
    """Return the address of an error queue: a name is one of the region and account of the queue."""
    return name if ":" in name else queue.arn.rpartition(":")[0] + ":" + name


def alarms_on(aws: Aws, queue: Queue | Unknown | None) -> tuple[Alarm, ...] | Unknown:
    """Return the alarms that watch a queue."""
    if not isinstance(queue, Queue):
        return () if queue is None else queue
    client = aws.client("cloudwatch", queue_from_arn(queue.arn).region)
    return asked("cloudwatch", queue.name, lambda: tuple(watching(client, queue.name)))


def watching(cloudwatch: Any, name: str) -> Iterator[Alarm]:
    """Yield the alarms on the metrics of a queue that concern an error queue."""
    dimensions = [{"Name": "QueueName", "Value": name}]
    for metric in (VISIBLE, AGE, SENT):
        found = cloudwatch.describe_alarms_for_metric(Namespace="AWS/SQS", MetricName=metric, Dimensions=dimensions)
        for alarm in found["MetricAlarms"]:
            if alarm.get("Dimensions") == dimensions:
                yield Alarm(alarm["AlarmName"], metric)
