"""Reckon for how long a look hides messages, and say what looking does to an SQS queue. Pure."""

from __future__ import annotations

from datetime import timedelta

from recoverable_operate.errors._aws.attributes import Attributes

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


def hidden_for(depth: int, rate: float) -> int:
    """Return for how many seconds each message is hidden: as long as reading and sending all of them takes.

    Args:
        depth: the messages of the queue.
        rate: the messages that are sent a second; 0 for none.
    """
    needed = depth / LOOKED_A_SECOND + (depth / rate if rate else 0) + LEAST_HIDDEN
    return int(min(max(needed, LEAST_HIDDEN), MOST_HIDDEN))


def notes(queue: Attributes, seconds: int) -> list[str]:
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


def until_text(seconds: timedelta) -> str:
    """Return a duration in minutes and seconds."""
    minutes, rest = divmod(int(seconds.total_seconds()), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
