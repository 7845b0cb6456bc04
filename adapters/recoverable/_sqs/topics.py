"""Describe SNS topics by their ARN."""

from __future__ import annotations

from recoverable._frozen import Frozen
from recoverable._sqs.queues import Queue

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
