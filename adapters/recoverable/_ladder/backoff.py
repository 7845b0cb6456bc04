"""Calculate how long to wait: exponential backoff, the fraction for jitter, and the delays after a broker did not take a copy."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from recoverable._frozen import Frozen
from recoverable._limits import MAX_DELAY, checked_delay, checked_number

MAX_FACTOR = 1_000.0
"""With this factor delays grow from 1 s to the longest delay in three steps: a larger factor is a mistake."""

FIRST_DELAY, LONGEST_DELAY = timedelta(seconds=2.5), timedelta(minutes=15)
"""The time before a refused copy is sent again; it doubles with each refusal. SQS delays a message by 15 minutes at
most."""

LONGEST_REDELIVERY, MOST_REDELIVERY = timedelta(hours=1), timedelta(days=1)
"""The longest wait of a message that can only be redelivered, and how long it waits in all: its retention goes on, by
default for 4 days (Amazon SQS, CreateQueue)."""

QUICK_REDELIVERY, PART_OF_AN_HOUR, PART_OF_MORE = timedelta(minutes=10), 5, 2
"""Waits double up to ten minutes. In the first hour none is longer than that or a fifth of the time since the first delivery, so that the
end of an outage of an hour is noticed within 12 minutes; then each is half of that time, so that deliveries last for hours."""

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 8.0
"""Seconds before a send that met a busy broker is repeated in the same invocation; the pause doubles each time."""


class Exponential(Frozen):
    """A backoff with exponential delays: `initial`, `initial * factor`, `initial * factor**2` and so on.

    Args:
        initial: the first delay.
        factor: by how much each delay is longer than the one before, 1 to 1,000.
        maximum: no delay is longer than this.

    Raises:
        TypeError: a duration that is no timedelta, a factor that is no number.
        ValueError: out of range.
    """

    initial: timedelta
    factor: float = 2.0
    maximum: timedelta = MAX_DELAY

    def __post_init__(self) -> None:
        checked_number("Exponential(factor)", self.factor, 1, MAX_FACTOR)
        checked_delay("Exponential(initial)", self.initial)
        checked_delay("Exponential(maximum)", self.maximum)

    def __call__(self, retries_made: int) -> timedelta:
        """Return the delay after so many delayed retries."""
        try:
            return min(self.initial * self.factor**retries_made, self.maximum)
        except OverflowError:
            return self.maximum


def chance(message_id: str, retries_made: int) -> float:
    """Return a fraction in [0, 1) that looks random.

    It is the same for the same message and round, so that a policy stays pure.
    """
    from hashlib import blake2b  # noqa: PLC0415  # dear at cold start

    digest = blake2b(f"{message_id}/{retries_made}".encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


def delay_after_refusal(refusals: int) -> timedelta:
    """Return how long a message waits whose copy was refused so often before: 2.5 seconds, then twice as long each time, up to 15 minutes."""
    return min(FIRST_DELAY * (1 << min(refusals, 10)), LONGEST_DELAY)  # beyond ten doublings it is the longest anyway


def delay_while_redelivered(waited: timedelta, runs_left: int) -> timedelta:
    """Return how long a message waits that can only be redelivered, while the rate is limited or what its handler sent is not taken.

    As long again as before up to ten minutes, then a fifth of that, after an hour half of it, from 2.5 seconds to an hour; and where few
    deliveries are left, at least 15 minutes before the last, a quarter of that before the one before, and so on, so
    that a short ladder outlasts a short outage.

    Args:
        waited: since when it is delivered.
        runs_left: how often it can still come.
    """
    in_an_hour = min(waited, max(QUICK_REDELIVERY, waited / PART_OF_AN_HOUR))
    growing = in_an_hour if waited < LONGEST_REDELIVERY else min(waited / PART_OF_MORE, LONGEST_REDELIVERY)
    return max(growing, FIRST_DELAY, LONGEST_DELAY / (1 << 2 * min(runs_left - 1, 10)))


def pauses(within: float) -> Iterator[float]:
    """Yield the seconds to wait before each repetition of a send: growing, and in all no more than `within`."""
    pause = FIRST_PAUSE
    while pause <= within:
        yield pause
        within -= pause
        pause = min(pause * 2, LONGEST_PAUSE)
