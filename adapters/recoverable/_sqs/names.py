"""Find the queue or the topic that a name, an ARN or a URL stands for, without a call to SQS or SNS."""

from __future__ import annotations

import re

from recoverable._frozen import Frozen
from recoverable._sqs.queues import Queue, queue_from_arn

NAME = r"[A-Za-z0-9_-]{1,80}|(?=.{6,80}\Z)[A-Za-z0-9_-]+\.fifo"
"""Names of queues (Amazon SQS, CreateQueue, QueueName)."""

AWS_DOMAINS = {"amazonaws.com", "amazonaws.com.cn", "amazonaws.eu", "api.aws", "api.amazonwebservices.com.cn"}
REGION = r"[a-z]{2,}(-[a-z]+)+-[0-9]+"

PARTITIONS = {"cn": "aws-cn", "us-gov": "aws-us-gov"}
"""Partitions by the beginning of their regions' names; others are in "aws" ("Amazon Resource Names", IAM)."""


class Topic(Frozen):
    """An SNS topic.

    Args:
        arn: its ARN.
    """

    arn: str
    service = "sns"

    def url_at(self, _endpoint: str) -> str:
        """Return what a client calls it, which is its ARN."""
        return self.arn

    @property
    def region(self) -> str:
        """Return its region."""
        return self.arn.split(":")[3]

    @property
    def name(self) -> str:
        """Return its name, with ".fifo" when it is one."""
        return self.arn.split(":")[5]

    @property
    def fifo(self) -> bool:
        """True if the topic keeps the order of its groups."""
        return self.arn.endswith(".fifo")


Destination = Queue | Topic


def topic_of(name: str, source: Queue) -> Topic:
    """Return the topic of a name or an ARN; a name is of the region and account of `source`.

    Raises:
        ValueError: it is an ARN, but no SNS topic's.
    """
    if not name.startswith("arn:"):
        partition = next(
            (each for beginning, each in PARTITIONS.items() if source.region.startswith(f"{beginning}-")), "aws"
        )
        return Topic(f"arn:{partition}:sns:{source.region}:{source.account}:{name}")
    parts = name.split(":")
    if len(parts) != 6 or parts[2] != "sns" or not all(parts):  # noqa: PLR2004  # "Amazon Resource Names", IAM
        raise ValueError(
            f"{name!r} is no ARN of an SNS topic; one looks like arn:aws:sns:eu-central-1:123456789012:orders"
        )
    return Topic(name)


def destination(name: str, source: Queue) -> Queue:
    """Return the queue of a name, an ARN or a URL; a name is of the region and account of `source`."""
    if name.startswith("arn:"):
        return queue_from_arn(name)
    if name.startswith(("https://", "http://")):
        host, *path = name.split("://", 1)[1].rstrip("/").split("/")
        return Queue(
            region=region_of(host) or source.region,
            account=path[-2] if len(path) > 1 else "",
            name=path[-1] if path else "",
            url=name,
        )
    return Queue(region=source.region, account=source.account, name=name)


def region_of(host: str) -> str | None:
    """Return the region in a queue URL's host: in those of SQS, dual-stack, FIPS, VPC endpoints, and the legacy ones ("Amazon SQS endpoints
    and quotas").

    Return None for other hosts, such as a local server.
    """
    labels = host.lower().partition(":")[0].split(".")
    if not AWS_DOMAINS & {".".join(labels[-length:]) for length in (2, 3, 4)}:
        return None
    if labels[0] == "queue":
        return "us-east-1"  # the first region, whose legacy host names none
    return next((label for label in labels if re.fullmatch(REGION, label)), None)


def check_error_queue(owner: str, name: str) -> None:
    """Refuse what cannot be an SQS queue.

    Args:
        owner: the name of the class that was given the settings, for the error.
        name: a queue's name, ARN or URL.

    Raises:
        ValueError: it is neither a name, an ARN nor a URL; the text says what to write instead.
    """
    if name.startswith("arn:"):
        queue_from_arn(name)
    elif not name.startswith(("https://", "http://")) and not re.fullmatch(NAME, name):
        raise ValueError(
            f"{owner}: Failed(error_queue) is {name!r}; write a queue's name of up to 80 letters, digits, hyphens and underscores, "
            "with .fifo at its end when it is one, or an ARN or a URL"
        )


def names_source(name: str, arn: str) -> bool:
    """True if a name, an ARN or a URL is that of the queue with this ARN, from which a message came."""
    source = queue_from_arn(arn)
    try:
        return is_same(destination(name, source), source)
    except ValueError:
        return False  # the ARN of something else, which the log tells when no copy can be made for it


def is_same(one: Queue, other: Queue) -> bool:
    """True if both are the same queue, however they were named."""
    return (one.region, one.account, one.name) == (other.region, other.account, other.name)
