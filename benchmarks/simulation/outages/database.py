"""What the functions of all simulated ways do: they place orders in a database that is away for a while."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from recoverable import Message
from simulation.work import ATTEMPT_TIME

ATTEMPTS_A_ROUND, ROUNDS = 6, 4
"""The default ladder's."""


class Database:
    """Fails until the outage is over, and notes what it is asked.

    Args:
        now: the world's time.
        away: for how long it fails.
        take: lets time pass.
    """

    def __init__(self, now: Callable[[], datetime], away: timedelta, take: Callable[[float], object]) -> None:
        self._now, self._take, self.over = now, take, now() + away
        self.failed: list[datetime] = []
        self.placed: list[datetime] = []
        self.fewest_left = ATTEMPTS_A_ROUND * ROUNDS

    def place(self) -> None:
        """Place an order.

        Raises:
            ConnectionError: the database is away.
        """
        self._take(ATTEMPT_TIME)
        if self._now() < self.over:
            self.failed.append(self._now())
            raise ConnectionError("the database is away")
        self.placed.append(self._now())

    def place_order(self, message: Message) -> None:
        """Do what a message asks for; one that is placed has so many attempts left that it did not need.

        Raises:
            ConnectionError: the database is away.
        """
        self.place()
        made = message.round * ATTEMPTS_A_ROUND + message.attempt - 1
        self.fewest_left = min(self.fewest_left, ATTEMPTS_A_ROUND * ROUNDS - made)
