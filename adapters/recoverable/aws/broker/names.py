"""Check the names of error queues when an endpoint is made, and recognize the queue that a message came from."""

from __future__ import annotations

import re

from recoverable.aws.copies import destination
from recoverable.aws.queues import Queue, queue_from_arn
from recoverable.recovery.delivery import Delivery

NAME = r"[A-Za-z0-9_-]{1,80}|(?=.{6,80}\Z)[A-Za-z0-9_-]+\.fifo"
"""Names of queues (Amazon SQS, CreateQueue, QueueName)."""


def check_error_queue(owner: str, name: str) -> None:
    """Refuse what cannot be an SQS queue.

    Args:
        owner: the name of the class that was given the settings, for the error.
        name: a queue's name, ARN or URL.

    Raises:
        ValueError: it is none of the three; the text says what to write instead.
    """
    if name.startswith("arn:"):
        queue_from_arn(name)
    elif not name.startswith(("https://", "http://")) and not re.fullmatch(NAME, name):
        raise ValueError(
            f"{owner}: Failed(error_queue) is {name!r}; write a queue's name of up to 80 letters, digits, hyphens and underscores, "
            "with .fifo at its end when it is one, or an ARN or a URL"
        )


def names_source(name: str, delivery: Delivery) -> bool:
    """True if a name, an ARN or a URL is that of the queue that a delivery came from."""
    source = queue_from_arn(delivery.native["eventSourceARN"])
    try:
        return is_same(destination(name, source), source)
    except ValueError:
        return False  # the ARN of something else, which the log tells when no copy can be made for it


def is_same(one: Queue, other: Queue) -> bool:
    """True if both are the same queue, however they were named."""
    return (one.region, one.account, one.name) == (other.region, other.account, other.name)
