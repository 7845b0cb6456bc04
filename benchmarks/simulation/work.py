"""What every subject's handler does with a message, and how often it did it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

ATTEMPT_TIME = 0.02
"""Seconds of the world's time that one attempt takes."""

PADDING = "x" * 1_000
"""What makes a body a kilobyte."""


class CardDeclined(Exception):
    """Why a message fails, each time."""


def body_of(number: int) -> str:
    """Return the message of that number."""
    return json.dumps({"id": number, "note": PADDING})


def number_of(body: str) -> int:
    """Return the number of a message."""
    number: int = json.loads(body)["id"]
    return number


class Work:
    """Takes time, and fails for every n-th message.

    Args:
        fails_every: 100 lets one in a hundred fail, 1 all.
        take: called with the seconds that an attempt takes.
    """

    def __init__(self, fails_every: int, take: Callable[[float], None]) -> None:
        self.attempts: Counter[int] = Counter()
        self._fails_every, self._take = fails_every, take

    def fails(self, number: int) -> bool:
        """True if the message of that number fails."""
        return number % self._fails_every == 0

    def do(self, body: str) -> None:
        """Make one attempt.

        Raises:
            CardDeclined: the message is one that fails.
        """
        self._take(ATTEMPT_TIME)
        self.attempt(body)

    def attempt(self, body: str) -> None:
        """Make one attempt, for those who let the time pass themselves.

        Raises:
            CardDeclined: the message is one that fails.
        """
        number = number_of(body)
        self.attempts[number] += 1
        if self.fails(number):
            raise CardDeclined(f"the bank declined the card of order {number}")
