"""Ask SQS about the error queue, and decide for how long a look hides its messages."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from recoverable._sqs.queues import queue_from_arn
from recoverable_operate.errors._aws.answers import call_error
from recoverable_operate.errors._aws.messages import arn_of
from recoverable_operate.errors._queue import Backlog, OperateError

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

AGE_WITHIN = timedelta(minutes=15)
"""How far back an age is looked for: SQS reports once a minute, and late after a quiet time."""

LEAST_HIDDEN, MOST_HIDDEN = 5 * 60, 60 * 60
"""Seconds for which a message is hidden: short enough that a killed look ends soon, long enough for a slow one."""

LOOKED_A_SECOND = 100
"""Messages that a look reads a second at least: ten a call, ten calls a second."""

LONGEST_SWEEP = 11.5 * 3600
"""Seconds after which a sweep ends: SQS hides a message for 12 hours in total (ChangeMessageVisibility)."""

LONGEST_HIDDEN = 12 * 3600 - 60
"""Seconds for which a message is hidden in total: just less than what SQS allows (ChangeMessageVisibility)."""

MOST_IN_FLIGHT = 100_000
"""Messages that a look holds at most: SQS takes about 120,000 in flight (Amazon SQS queue quotas), and others need some."""

RECEIVES_LEFT = 2
"""Receives that must be left to a message of an error queue that has a dead-letter queue itself."""


@dataclass(frozen=True, slots=True)
class Attributes:
    """The attributes of the error queue.

    Args:
        arn: its ARN.
        depth: about how many messages it holds, hidden and delayed ones included.
        in_flight: about how many of them somebody has received, so that they are hidden.
        delayed: about how many are delayed.
        max_receives: after how many receives it dead-letters a message itself; None when it never does.
    """

    arn: str
    depth: int
    in_flight: int
    delayed: int
    max_receives: int | None

    @property
    def fifo(self) -> bool:
        """True if the queue keeps the order of its groups."""
        return self.arn.endswith(".fifo")


def read_attributes(client: SQSClient, url: str) -> Attributes:
    """Return the attributes of a queue (GetQueueAttributes).

    Raises:
        OperateError: it cannot be asked.
    """
    with call_error(url):
        found: Any = client.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    policy = json.loads(found.get("RedrivePolicy") or "{}")
    counts = {each: int(found.get(f"ApproximateNumberOfMessages{each}", 0)) for each in ("", "NotVisible", "Delayed")}
    return Attributes(
        found["QueueArn"],
        sum(counts.values()),
        counts["NotVisible"],
        counts["Delayed"],
        int(policy["maxReceiveCount"]) if "maxReceiveCount" in policy else None,
    )


def read_backlog(client: SQSClient, metrics: Any, arn: str, now: datetime) -> Backlog:
    """Return how much a queue holds; the age of its oldest message is known to CloudWatch alone, as of a few minutes ago.

    Args:
        client: asks SQS.
        metrics: asks CloudWatch; None where it is not asked, or where it refuses.
        arn: the queue's.
        now: the time.

    Raises:
        OperateError: the queue cannot be asked.
    """
    queue = queue_from_arn(arn)
    with call_error(arn):
        url = client.get_queue_url(QueueName=queue.name, QueueOwnerAWSAccountId=queue.account)["QueueUrl"]
    found, oldest = read_attributes(client, url), None
    if metrics is not None:
        with suppress(OperateError):
            oldest = age_of_oldest(metrics, queue.name, now)
    return Backlog(found.depth - found.in_flight - found.delayed, found.in_flight, found.delayed, oldest)


def age_of_oldest(metrics: Any, queue: str, now: datetime) -> timedelta | None:
    """Return the last age that CloudWatch has of the oldest message; None without one (CloudWatch metrics for Amazon SQS).

    Raises:
        OperateError: it cannot be asked.
    """
    with call_error(queue):
        points = metrics.get_metric_statistics(
            Namespace="AWS/SQS",
            MetricName="ApproximateAgeOfOldestMessage",
            Dimensions=[{"Name": "QueueName", "Value": queue}],
            StartTime=now - AGE_WITHIN,
            EndTime=now,
            Period=60,
            Statistics=["Maximum"],
        )["Datapoints"]
    latest = max(points, key=lambda point: point["Timestamp"], default=None)
    return None if latest is None else timedelta(seconds=latest["Maximum"])


def read_sources(client: SQSClient, url: str, arn: str) -> list[str]:
    """Return the ARNs of the queues whose dead letters come to this one, by a dead-letter queue between them too.

    Of one in between that may not be asked, only it itself is known: messages that name another queue need `--allow`.

    Raises:
        OperateError: the queue itself cannot be asked.
    """
    found = dict.fromkeys(direct_sources(client, url))
    for each in list(found):
        with suppress(OperateError):
            found |= dict.fromkeys(direct_sources(client, each))
    return sorted(arn_of(each, arn) for each in found)


def direct_sources(client: SQSClient, url: str) -> list[str]:
    """Return the URLs of the queues whose dead-letter target this one is (ListDeadLetterSourceQueues).

    Raises:
        OperateError: it cannot be asked.
    """
    urls: list[str] = []
    more: dict[str, Any] = {}
    with call_error(url):
        while True:
            answer: Any = client.list_dead_letter_source_queues(QueueUrl=url, **more)
            urls += answer.get("queueUrls", [])
            if not (token := answer.get("NextToken")):
                return urls
            more = {"NextToken": token, "MaxResults": 1000}


def hidden_for(depth: int, rate: float) -> int:
    """Return for how many seconds each message is hidden: as long as reading and sending all of them takes.

    Args:
        depth: the messages of the queue.
        rate: the messages that are sent a second; 0 for none.
    """
    needed = depth / LOOKED_A_SECOND + (depth / rate if rate else 0) + LEAST_HIDDEN
    return int(min(max(needed, LEAST_HIDDEN), MOST_HIDDEN))


def looking_notes(queue: Attributes, seconds: int) -> list[str]:
    """Return what looking does to this queue, in sentences."""
    minutes = seconds // 60
    said = [
        f"Looking at SQS hides each message, here for {minutes} minutes; all are given back at the end and on Ctrl-C. "
        f"Killed, the last ones come back within {minutes} minutes.",
        "Each look counts as a receive of each message, and disturbs alarms on visible messages and on the age of the oldest.",
    ]
    if queue.fifo:
        said.append(
            "FIFO: at most ten messages of each group are seen at a time; a message that stays ends its group's turn; "
            "what is sent back stands behind newer messages of its group."
        )
    if queue.max_receives is not None:
        said.append(f"This queue has a dead-letter queue itself, after {queue.max_receives} receives.")
    return said
