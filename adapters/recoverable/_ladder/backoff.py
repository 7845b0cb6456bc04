"""Calculate delays: exponential backoff, and the fraction for jitter."""

from __future__ import annotations

from datetime import timedelta
from hashlib import blake2b

from recoverable._frozen import Frozen
from recoverable._limits import MAX_DELAY, checked_delay, checked_number

MAX_FACTOR = 1_000.0
"""With this factor delays grow from 1 s to the longest delay in three steps: a larger factor is a mistake."""


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
    digest = blake2b(f"{message_id}/{retries_made}".encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64
