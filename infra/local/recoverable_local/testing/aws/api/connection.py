"""Keep the connection of a client to the broker, which forgets one that is idle."""

from __future__ import annotations

from collections.abc import Callable

FORGOTTEN_AFTER = 60.0
"""Seconds after which an idle connection is gone: half the time after which SQS was seen to close one."""


class Connection:
    """The connection of one client, opened by a call and kept for the next.

    When it was idle for too long, the broker resets the next call on it. A frozen process does not see that before.

    Args:
        clock: returns the world's time in seconds; one that stands still keeps the connection for ever.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._used_at: float | None = None  # None while it is closed

    def is_forgotten(self) -> bool:
        """True if the broker resets the next call."""
        return self._used_at is not None and self._clock() - self._used_at > FORGOTTEN_AFTER

    def use(self) -> None:
        """Note that a call was answered."""
        self._used_at = self._clock()

    def close(self) -> None:
        """Close it; the next call opens one."""
        self._used_at = None
