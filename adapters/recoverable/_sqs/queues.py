"""Describe queues by region, account and name, and make their URLs without a call to SQS."""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache

from recoverable._frozen import Frozen

LONGEST_DELAY = timedelta(seconds=900)
"""SQS delays a message by 15 minutes at most (Amazon SQS delay queues)."""

LONGEST_VISIBILITY = 43_200
"""Seconds for which SQS keeps a message hidden, counted from its receive (Amazon SQS visibility timeout)."""


class Queue(Frozen):
    """An SQS queue.

    Args:
        region: such as "eu-central-1".
        account: the number of the account that owns it.
        name: its name, with ".fifo" when it is one.
        url: the URL, when it was given as one.
    """

    region: str
    account: str
    name: str
    url: str | None = None
    service = "sqs"

    @property
    def fifo(self) -> bool:
        """True if the queue keeps the order of its groups."""
        return self.name.endswith(".fifo")

    @property
    def place(self) -> str:
        """Return where it is, for a log: a name alone is of the account and region of the queue that its message came from."""
        return f"'{self.url}'" if self.url else f"'{self.name}' of account {self.account} in {self.region}"

    def url_at(self, endpoint: str) -> str:
        """Return the queue's URL for a client of that endpoint."""
        return self.url or f"{endpoint.rstrip('/')}/{self.account}/{self.name}"


@lru_cache(maxsize=64)
def queue_from_arn(arn: str) -> Queue:
    """Return the queue of an ARN.

    Raises:
        ValueError: it is no SQS queue's ARN.
    """
    parts = arn.split(":")
    if len(parts) != 6 or parts[0] != "arn" or parts[2] != "sqs" or not all(parts):  # noqa: PLR2004  # "Amazon Resource Names", IAM
        raise ValueError(
            f"{arn!r} is no ARN of an SQS queue; one looks like arn:aws:sqs:eu-central-1:123456789012:orders"
        )
    return Queue(region=parts[3], account=parts[4], name=parts[5])
