"""Hold a message back until its round may start, where its count of deliveries alone says which round it is in (SQS FIFO). Pure functions."""

from __future__ import annotations

from datetime import timedelta
from itertools import accumulate

from recoverable._config import Delayed
from recoverable._ladder.delivery import Delivery
from recoverable._ladder.policy import configured_delay
from recoverable._limits import NO_DELAY
from recoverable._message import place

CLOCK_TOLERANCE = timedelta(seconds=1)
"""By how much the function's clock and the broker's may differ without costing a delivery."""


def wait_for_round(
    delivery: Delivery,
    since_first_receive: timedelta | None,
    delayed: Delayed,
    *,
    attempts_per_round: int,
    function_timeout: timedelta,
    longest_delay: timedelta,
) -> timedelta | None:
    """Return how long a message must wait whose count is ahead of its delays; None when its handler may run.

    No round starts before the sum of the configured delays before it has passed since the first receive. A message that is ahead
    of that waits for the next round; within one function time-out after a round's start it makes that round's last attempt instead.

    Args:
        delivery: the delivery, its round and attempt restored by its count; they change where it makes another round's last attempt.
        since_first_receive: the time since then; None when it is unknown.
        delayed: the settings for delayed retries.
        attempts_per_round: immediate retries + 1.
        function_timeout: how long an invocation may last.
        longest_delay: the longest time for which the broker hides a message.
    """
    message = delivery.message
    if message.round == 0 or since_first_receive is None or since_first_receive < -CLOCK_TOLERANCE:
        return None
    starts = round_starts(delayed, message.id, message.round, longest_delay)
    reached = max(
        number for number, start in enumerate(starts) if start <= max(since_first_receive, NO_DELAY) + CLOCK_TOLERANCE
    )
    if reached == message.round:
        return None
    if since_first_receive - starts[reached] < function_timeout:
        place(message, round=reached, attempt=attempts_per_round)
        delivery.deliveries = attempts_per_round
        return None
    return starts[reached + 1] - since_first_receive


def until_last_round(
    message_id: str, since_first_receive: timedelta, delayed: Delayed, longest_delay: timedelta
) -> timedelta:
    """Return how long it is until the last round of a message may start; 0 when it may.

    Args:
        message_id: the message's id.
        since_first_receive: the time since then.
        delayed: the settings for delayed retries.
        longest_delay: the longest time for which the broker hides a message.
    """
    *_, last = round_starts(delayed, message_id, delayed.max_retries, longest_delay)
    return max(last - since_first_receive, NO_DELAY)


def round_starts(delayed: Delayed, message_id: str, rounds: int, longest_delay: timedelta) -> list[timedelta]:
    """Return how long after the first receive each round may start, from round 0 to `rounds`."""
    delays = (min(configured_delay(delayed, number, message_id), longest_delay) for number in range(rounds))
    return list(accumulate(delays, initial=NO_DELAY))
