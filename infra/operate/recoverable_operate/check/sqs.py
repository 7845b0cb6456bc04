"""Describe a function that reads an SQS queue, as far as the rules look at it; each value may be unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from recoverable_operate.check.known import Unknown
from recoverable_operate.check.ladder import DEFAULT, Ladder
from recoverable_operate.check.permissions import Permissions

DEFAULT_VISIBILITY, DEFAULT_RETENTION = timedelta(seconds=30), timedelta(days=4)
"""What a queue has that sets neither (SQS API reference, CreateQueue)."""

AWS_KEY = "alias/aws/sqs"
"""SQS's own key in KMS, which takes no permission."""

REPORT = "ReportBatchItemFailures"
"""The one value of a mapping's `FunctionResponseTypes`."""

NO_FUNCTION = Unknown("only the queue was looked at")


@dataclass(frozen=True, slots=True)
class Redrive:
    """A redrive policy: after `max_receive_count` receives SQS moves a message to the queue with the ARN `target`."""

    target: str
    max_receive_count: int


@dataclass(frozen=True, slots=True)
class Queue:
    """An SQS queue.

    Args:
        name: its name.
        arn: its ARN; in a template, region and account may be placeholders.
        fifo: True if it keeps the order within a message group.
        visibility_timeout: how long a received message stays hidden.
        retention: how long it keeps a message.
        redrive: where messages go that were received too often; None for nowhere.
        key: the id, ARN or alias of the KMS key that encrypts it; None for a key that takes no permission.
    """

    name: str
    arn: str
    fifo: bool | Unknown
    visibility_timeout: timedelta | Unknown
    retention: timedelta | Unknown
    redrive: Redrive | Unknown | None
    key: str | Unknown | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """A Lambda function.

    Args:
        name: as findings name it.
        timeout: how long an invocation may take.
        recursive_loop: True if Lambda allows it to send to the queue that it reads.
        reserved_concurrency: the most invocations at a time; None for no limit of its own.
        variables: its environment variables.
        permissions: what its role may do.
    """

    name: str
    timeout: timedelta | Unknown
    recursive_loop: bool | Unknown
    reserved_concurrency: int | Unknown | None
    variables: Mapping[str, str | Unknown] | Unknown
    permissions: Permissions | Unknown


@dataclass(frozen=True, slots=True)
class EventSource:
    """An event source mapping: it reads a queue for a function.

    Args:
        name: as findings name it.
        partial_responses: True if it has `ReportBatchItemFailures`.
        batch_size: the most records of one invocation.
        window: how long a batch collects records.
        max_concurrency: the most invocations at a time; None for no limit of its own.
    """

    name: str
    partial_responses: bool | Unknown
    batch_size: int | Unknown
    window: timedelta | Unknown
    max_concurrency: int | Unknown | None


@dataclass(frozen=True, slots=True)
class Alarm:
    """A CloudWatch alarm on a metric of the error queue.

    Args:
        name: as findings name it.
        metric: the metric's name, such as `ApproximateNumberOfMessagesVisible`.
    """

    name: str
    metric: str


@dataclass(frozen=True, slots=True)
class OnSqs:
    """A function that reads an SQS queue: what one look describes.

    Args:
        queue: the queue that it reads.
        error_queue: where its messages go that are given up; None for nowhere.
        function: the function.
        source: the event source mapping between the two.
        alarms: those that watch the error queue.
        ladder: the retries that the function makes.
    """

    queue: Queue | Unknown
    error_queue: Queue | Unknown | None
    function: Function | Unknown = NO_FUNCTION
    source: EventSource | Unknown = NO_FUNCTION
    alarms: tuple[Alarm, ...] | Unknown = NO_FUNCTION
    ladder: Ladder | Unknown = DEFAULT
