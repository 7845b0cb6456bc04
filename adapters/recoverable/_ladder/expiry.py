"""Decide whether a message that waits where it is would expire before anybody sees it again. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recoverable._ladder.delivery import Delivery

RETENTION = timedelta(days=4)
"""For how long a queue keeps a message where nothing says it (Amazon SQS, CreateQueue)."""

LONGEST_MARGIN, PART_OF_RETENTION = timedelta(hours=1), 10
"""What is kept of a message's retention for moving it to the error queue: an hour, and a tenth of the retention where that is less."""


def why_it_expires(
    delivery: Delivery, age: timedelta, wait: timedelta, *, retention: timedelta, invocation: timedelta
) -> str:
    """Return why a message would not be seen again; "" where it comes in time: a redelivery renews no retention.

    Args:
        delivery: the message; its handler may have run.
        age: the time since it was sent to this queue.
        wait: how long it would wait.
        retention: for how long the queue keeps it.
        invocation: how long one may last: after the wait there must be time for two.
    """
    if age - ran(delivery) > retention:
        return ""  # it would be gone: what says its age, or the retention, is wrong
    margin = min(LONGEST_MARGIN, retention / PART_OF_RETENTION)
    if age + wait + 2 * invocation + margin < retention:
        return ""
    return f"the queue keeps it for {retention}, and after the wait too little of that would be left"


def uses_half(delivery: Delivery, age: timedelta, wait: timedelta, *, retention: timedelta, is_first: bool) -> bool:
    """True if half of the retention of a message that others wait behind passes while its handler runs or while it waits then: once.

    Args:
        delivery: the message, after its handler.
        age: the time since it was sent to this queue.
        wait: how long it waits.
        retention: for how long the queue keeps it.
        is_first: True if it came for the first time; it may be as old by then.
    """
    half = retention / 2
    return age + wait >= half and (age - ran(delivery) < half or is_first)


def ran(delivery: Delivery) -> timedelta:
    """Return for how long the handler of a message ran."""
    return timedelta(seconds=delivery.handler_seconds or 0)
