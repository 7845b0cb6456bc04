"""Where a message is only redelivered, no round starts before its delays are over, whatever the broker's count says."""

from __future__ import annotations

from datetime import timedelta

import pytest

from builders import delivery
from recoverable import Delayed, Exponential
from recoverable.aws._fifo import round_starts, wait_for_round

HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)
THREE_DELAYS = Delayed(3, HOUR)
"""Rounds start 0, 1, 3 and 6 hours after the first receive."""


def wait(
    round_: int,
    since: timedelta | None,
    *,
    attempt: int = 1,
    delayed: Delayed = THREE_DELAYS,
    longest: timedelta = 12 * HOUR,
) -> tuple[timedelta | None, int, int]:
    """Return how long a message waits that its count puts into a round, and the round and attempt that it makes otherwise."""
    one = delivery(deliveries=attempt, round=round_)
    delay = wait_for_round(
        one, since, delayed, attempts_per_round=2, function_timeout=30 * SECOND, longest_delay=longest
    )
    return delay, one.message.round, one.deliveries


@pytest.mark.parametrize(
    ("round_", "since", "found"),
    [
        (0, 5 * MINUTE, (None, 0, 1)),  # the first round may start at once
        (1, HOUR, (None, 1, 1)),  # in time
        (1, 9 * HOUR, (None, 1, 1)),  # the count tells the round, however late it is
        (1, 3 * MINUTE, (57 * MINUTE, 1, 1)),  # too early: until the next round starts
        (3, 3 * MINUTE, (57 * MINUTE, 3, 1)),  # the next one by the time, not the one of the count
        (3, 2 * HOUR, (HOUR, 3, 1)),
        (1, 29 * SECOND, (None, 0, 2)),  # just received: the last attempt of the round that has begun
        (1, 30 * SECOND, (59.5 * MINUTE, 1, 1)),
        (2, HOUR + SECOND, (None, 1, 2)),
        (2, HOUR - SECOND, (None, 1, 2)),  # two clocks never agree to the second
        (2, HOUR - 2 * SECOND, (2 * SECOND, 2, 1)),
    ],
)
def test_a_message_whose_count_is_ahead_of_its_delays_waits_or_makes_the_last_attempt_of_a_round_that_began_just_now(
    round_: int, since: timedelta, found: tuple[timedelta | None, int, int]
) -> None:
    assert wait(round_, since) == found


@pytest.mark.parametrize(
    ("round_", "since", "found"),
    [
        (1, 3 * MINUTE, (None, 0, 2)),
        (1, 12.5 * HOUR, (None, 0, 2)),
        (1, 13 * HOUR, (None, 1, 1)),  # so late that its round has begun
    ],
)
def test_before_a_delay_that_no_visibility_can_hold_a_message_makes_the_last_attempt_of_its_round(
    round_: int, since: timedelta, found: tuple[timedelta | None, int, int]
) -> None:
    assert wait(round_, since, delayed=Delayed(3, 13 * HOUR)) == found


@pytest.mark.parametrize("since", [None, -HOUR])
def test_without_a_time_that_makes_sense_the_count_alone_tells_the_round(since: timedelta | None) -> None:
    assert wait(2, since) == (None, 2, 1)


def test_a_clock_that_is_a_moment_behind_the_brokers_is_at_the_first_receive() -> None:
    assert wait(2, -0.5 * SECOND) == (None, 0, 2)


@pytest.mark.parametrize(
    ("delayed", "starts"),
    [
        (THREE_DELAYS, [0, 1, 3, 6]),
        (Delayed(3, backoff=Exponential(HOUR)), [0, 1, 3, 7]),
        (Delayed(3, 100 * HOUR), [0, 100, 300, 600]),
        (Delayed(3, timedelta(0)), [0, 0, 0, 0]),
    ],
)
def test_a_round_starts_when_the_configured_delays_before_it_are_over(delayed: Delayed, starts: list[int]) -> None:
    assert round_starts(delayed, "m1", 3) == [hours * HOUR for hours in starts]


def test_jitter_is_the_same_as_when_the_delay_was_decided() -> None:
    delayed = Delayed(2, HOUR, jitter=1.0)

    assert round_starts(delayed, "m1", 2) == round_starts(delayed, "m1", 2)
    assert round_starts(delayed, "m1", 2) != round_starts(delayed, "m2", 2)


def test_where_a_backoff_raises_the_linear_delay_counts() -> None:
    def broken(retries_made: int) -> timedelta:
        raise ZeroDivisionError

    assert round_starts(Delayed(2, HOUR, backoff=broken), "m1", 2) == [0 * HOUR, HOUR, 3 * HOUR]
