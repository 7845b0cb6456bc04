"""Define a queue's settings, with SQS's defaults and limits."""

from __future__ import annotations

from dataclasses import dataclass

KIBIBYTE = 1024
MINUTE, HOUR, DAY = 60, 3_600, 86_400

REGION = "eu-central-1"
ACCOUNT = "123456789012"
QUEUE_NAME = r"[A-Za-z0-9_-]{1,80}|(?=.{6,80}\Z)[A-Za-z0-9_-]+\.fifo"
"""Pattern of a queue's name (CreateQueue)."""

ENDPOINT = f"https://sqs.{REGION}.amazonaws.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redrive:
    """A redrive policy: where a message goes that was received too often.

    Args:
        to: the dead-letter queue's name.
        after: how many receives it has, 1 to 1,000.
    """

    to: str
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A queue's attributes, with SQS's defaults (CreateQueue).

    Args:
        name: the queue's; one that ends with ".fifo" keeps the order of its groups.
        delay: seconds for which a new message is hidden, 0 to 900.
        visibility_timeout: seconds for which a received message is hidden, 0 to 43,200.
        retention: seconds after which a message is deleted, 60 to 1,209,600.
        max_size: bytes of a message, 1,024 to 1,048,576.
        wait: seconds that a receive waits for messages when it does not say, 0 to 20.
        redrive: what happens to what is received too often.
        content_deduplication: True if a FIFO queue takes messages of the same body for duplicates.
    """

    name: str
    delay: float = 0
    visibility_timeout: float = 30
    retention: float = 4 * DAY
    max_size: int = KIBIBYTE * KIBIBYTE
    wait: float = 0
    redrive: Redrive | None = None
    content_deduplication: bool = False

    @property
    def fifo(self) -> bool:
        """True if the queue keeps the order of its groups."""
        return self.name.endswith(".fifo")

    @property
    def arn(self) -> str:
        """Return the ARN."""
        return f"arn:aws:sqs:{REGION}:{ACCOUNT}:{self.name}"

    @property
    def url(self) -> str:
        """Return the URL that clients use."""
        return f"{ENDPOINT}/{ACCOUNT}/{self.name}"
