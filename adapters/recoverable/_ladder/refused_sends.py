"""Decide what follows when a broker does not take a copy: repeat the send, or send the message on later without running its handler."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from recoverable._ladder.copy_headers import identity_headers, write_count
from recoverable._ladder.delivery import Delivery
from recoverable._ladder.settlement import Forward
from recoverable._limits import NO_DELAY
from recoverable.headers import REFUSED_SENDS, RETRY_HEADERS

FIRST_DELAY, LONGEST_DELAY = timedelta(seconds=2.5), timedelta(minutes=15)
"""The time before a refused copy is sent again; it doubles with each refusal. SQS delays a message by 15 minutes at most."""

LONGEST_REDELIVERY, MOST_REDELIVERY = timedelta(hours=1), timedelta(days=1)
"""The longest wait of a message that can only be redelivered, and how long it waits in all: its retention goes on, by default for 4
days (Amazon SQS, CreateQueue)."""

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 8.0
"""Seconds before a send that met a busy broker is repeated in the same invocation; the pause doubles each time."""


def deferral_after_refusal(delivery: Delivery, refused: Forward) -> Forward:
    """Return the deferral of a message whose copy for the error queue was refused for good.

    It goes to the queue that the message came from, carries the fault headers already, and is sent on without running the handler.

    Args:
        delivery: the message as it came.
        refused: its forwarding to the error queue.
    """
    refusals = delivery.carried.refused_sends
    changes = {**refused.changes, REFUSED_SENDS: write_count(refusals + 1)}
    return Forward(delivery.message.queue, delay_after_refusal(refusals), changes)


def delay_after_refusal(refusals: int) -> timedelta:
    """Return how long a message waits whose copy was refused so often before: 2.5 seconds, then twice as long each time, up to 15 minutes."""
    return min(FIRST_DELAY * (1 << min(refusals, 10)), LONGEST_DELAY)  # beyond ten doublings it is the longest anyway


def delay_while_redelivered(waited: timedelta, runs_left: int) -> timedelta:
    """Return how long a message waits that can only be redelivered, while what its handler sent is not taken.

    As long again as before, from 2.5 seconds to an hour; and where few deliveries are left, at least 15 minutes before the last, a
    quarter of that before the one before, and so on, so that a short ladder outlasts a short outage.

    Args:
        waited: since when it is delivered.
        runs_left: how often it can still come.
    """
    return max(min(waited, LONGEST_REDELIVERY), FIRST_DELAY, LONGEST_DELAY / (1 << 2 * min(runs_left - 1, 10)))


def forward_given_up(delivery: Delivery, error_queue: str) -> Forward:
    """Return the forwarding of a message that was given up earlier: to the error queue, with the fault headers that it carries.

    Args:
        delivery: the message; its `given_up` is True.
        error_queue: the configured one. No header names it: a sender could otherwise have a message sent to any queue.
    """
    return Forward(error_queue, NO_DELAY, {**identity_headers(delivery.message), **dict.fromkeys(RETRY_HEADERS)})


def pauses(within: float) -> Iterator[float]:
    """Yield the seconds to wait before each repetition of a send: growing, and in all no more than `within`."""
    pause = FIRST_PAUSE
    while pause <= within:
        yield pause
        within -= pause
        pause = min(pause * 2, LONGEST_PAUSE)
