"""Work out the numbers of a queue from the retries of its function: receives, visibility, retention."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aws_cdk import Duration

VISIBILITY_FACTOR = 6
"""Time-outs for which a received message stays hidden ("Creating and configuring an Amazon SQS event source mapping", Lambda)."""

LEAST_RECEIVES = 50
"""Receives of a standard queue: more than immediate retries + 6, because a throttled function uses some up."""

SPARE_RECEIVES, SPARE_FIFO_RECEIVES = 6, 10
MOST_RECEIVES = 1_000
"""The highest maxReceiveCount (SQS, SetQueueAttributes)."""

LEAST_RETENTION_DAYS = 4
RETENTION_OF_ERRORS_DAYS = 14
"""The default and the longest retention of SQS (SetQueueAttributes)."""

DAY = 86_400


@dataclass(frozen=True, slots=True)
class Numbers:
    """The retries of a function, and what they ask of its queue.

    Args:
        immediate_retries: retries without delay in each round.
        delayed_retries: rounds that start after a delay.
        fifo: True for a FIFO queue, where each attempt is a receive.

    Raises:
        ValueError: one is out of range, or all attempts together are more than SQS counts.
    """

    immediate_retries: int
    delayed_retries: int
    fifo: bool

    def __post_init__(self) -> None:
        """Check the range of each."""
        for name, most in (("immediate_retries", 994), ("delayed_retries", 1_000)):
            if not 0 <= (value := getattr(self, name)) <= most:
                raise ValueError(f"RecoverableQueue({name}) is {value}; write 0 to {most}")
        if self.max_receive_count > MOST_RECEIVES:
            raise ValueError(
                f"RecoverableQueue: {self.attempts} attempts need a maxReceiveCount of {self.max_receive_count}, and SQS takes"
                f" {MOST_RECEIVES} at most; write fewer retries"
            )

    @property
    def attempts(self) -> int:
        """Return all attempts of a message."""
        return (self.immediate_retries + 1) * (self.delayed_retries + 1)

    @property
    def max_receive_count(self) -> int:
        """Return how often a message is received before SQS moves it to the error queue."""
        if self.fifo:
            return self.attempts + SPARE_FIFO_RECEIVES
        return max(LEAST_RECEIVES, self.immediate_retries + SPARE_RECEIVES)

    def retention_days(self, visibility: Duration) -> int:
        """Return for how many days the queue keeps a message: longer than all its receives take, less than the error queue.

        Raises:
            ValueError: its receives may take longer than SQS keeps messages.
        """
        needed: int = math.floor(self.max_receive_count * visibility.to_seconds() / DAY) + 1
        if needed >= RETENTION_OF_ERRORS_DAYS:
            raise ValueError(
                f"RecoverableQueue: {self.max_receive_count} receives of {visibility.to_seconds():.0f} s may take {needed} days, and SQS"
                f" keeps messages for {RETENTION_OF_ERRORS_DAYS} at most; write a shorter time-out or fewer retries"
            )
        return max(LEAST_RETENTION_DAYS, needed)


def visibility_timeout(timeout: Duration, window: Duration | None) -> Duration:
    """Return for how long a received message stays hidden: six time-outs and the batch window."""
    seconds = VISIBILITY_FACTOR * timeout.to_seconds() + (window.to_seconds() if window else 0)
    return type(timeout).seconds(seconds)
