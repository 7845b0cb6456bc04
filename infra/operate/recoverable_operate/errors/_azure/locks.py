"""Keep the locks of what was received and is not settled, as many as can be renewed in time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from recoverable_operate.errors._queue import Clock

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusReceivedMessage  # noqa: TID251  # for types alone

    Renew = Callable[[ServiceBusReceivedMessage], datetime]

SAFE = 0.5
"""The part of a lock's time in which all locks must be renewed, one call each."""

LEAST_COST = 0.001
"""Seconds that a renewal is taken to cost at least."""


class Locks:
    """The locked messages, by sequence number.

    Args:
        renew: renews the lock of one message.
        clock: tells the time.
    """

    def __init__(self, renew: Renew, clock: Clock) -> None:
        self._renew, self._clock = renew, clock
        self._held: dict[str, ServiceBusReceivedMessage] = {}
        self._until: dict[str, datetime] = {}
        self._duration, self._cost = 60.0, 0.0

    def add(self, number: str, message: ServiceBusReceivedMessage, until: datetime) -> None:
        """Hold a message that was just received, until its lock ends. The first one is renewed at once, to measure what that takes."""
        self._duration = max((until - self._clock.now()).total_seconds(), 1.0)
        self._held[number], self._until[number] = message, until
        if not self._cost:
            self._renew_one(number)

    def get(self, number: str) -> ServiceBusReceivedMessage | None:
        """Return a message that is held."""
        return self._held.get(number)

    def remove(self, number: str) -> None:
        """Hold a message no longer."""
        self._held.pop(number, None)
        self._until.pop(number, None)

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[tuple[str, ServiceBusReceivedMessage]]:
        return iter(list(self._held.items()))

    def capacity(self) -> int:
        """Return how many locks can be renewed in time, by what renewals took; one as long as none was made."""
        return max(int(SAFE * self._duration / self._cost), 1) if self._cost else 1

    def keep(self) -> None:
        """Renew each lock of which less than half is left."""
        for number, _ in self:
            if (self._until[number] - self._clock.now()).total_seconds() <= SAFE * self._duration:
                self._renew_one(number)

    def _renew_one(self, number: str) -> None:
        """Renew one lock; one that cannot be renewed is lost: its message is delivered again, and is not deleted here."""
        began = self._clock.now()
        try:
            self._until[number] = self._renew(self._held[number])
        except Exception:  # noqa: BLE001  # whatever it is, the lock is not ours any more; a message that was sent is reported when it is deleted
            self.remove(number)
        took = max((self._clock.now() - began).total_seconds(), LEAST_COST)
        self._cost = 0.8 * self._cost + 0.2 * took if self._cost else took
