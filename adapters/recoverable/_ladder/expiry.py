"""Decide whether a message that waits where it is would expire before anybody sees it again. Pure."""

from __future__ import annotations

from datetime import timedelta

RETENTION = timedelta(days=4)
"""For how long a queue keeps a message where nothing says it (Amazon SQS, CreateQueue)."""

LONGEST_MARGIN, PART_OF_RETENTION = timedelta(hours=1), 10
"""What is kept of a message's retention for moving it to the error queue: an hour, and a tenth of the retention where that is less."""

HALF_USED = (
    "Message '%s' from '%s' has used half of its retention. The messages behind it in its group '%s' age unseen, and expire %s after their "
    "own send. Shorten the ladder's delays, or raise the queue's retention."
)


def why_it_expires(age: timedelta, wait: timedelta, *, retention: timedelta, invocation: timedelta) -> str:
    """Return why a message would not be seen again; "" where it comes in time: a redelivery renews no retention.

    Args:
        age: the time since it was sent to this queue.
        wait: how long it would wait.
        retention: for how long the queue keeps it.
        invocation: how long one may last: after the wait there must be time for two.
    """
    if age > retention:
        return ""  # it would be gone: what says its age, or the retention, is wrong
    margin = min(LONGEST_MARGIN, retention / PART_OF_RETENTION)
    if age + wait + 2 * invocation + margin < retention:
        return ""
    return f"the queue keeps it for {retention}, and after the wait too little of that would be left"


def warning_of_half(age: timedelta, wait: timedelta, *, retention: timedelta, is_first: bool) -> str:
    """Return the warning of a message that others wait behind, when half of its retention passes while it waits; else "".

    Args:
        age: the time since it was sent to this queue.
        wait: how long it waits.
        retention: for how long the queue keeps it.
        is_first: True if it came for the first time; it may be as old by then.
    """
    half = retention / 2
    return HALF_USED if age + wait >= half and (age < half or is_first) else ""
