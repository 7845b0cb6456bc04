"""Keep the connection of a sender to Service Bus, which ends one that is idle."""

from __future__ import annotations

from collections.abc import Callable

IDLE_LINK, SILENT_CONNECTION = 600.0, 240.0
"""Seconds after which Service Bus ends a link that nobody uses, and a connection without keep-alive frames."""


class Connection:
    """The connection of one sender, opened by a call and kept for the next.

    When it was idle for too long, Service Bus has ended it, and the next call on it is lost.

    Args:
        clock: returns the world's time in seconds.
        is_kept_alive: True if the client sends keep-alive frames.
    """

    def __init__(self, clock: Callable[[], float], *, is_kept_alive: bool) -> None:
        self._clock, self._limit = clock, IDLE_LINK if is_kept_alive else SILENT_CONNECTION
        self._used_at: float | None = None  # None while it is closed

    def is_forgotten(self) -> bool:
        """True if the next call on it is lost."""
        return self._used_at is not None and self._clock() - self._used_at >= self._limit

    def use(self) -> None:
        """Note that it carries a call."""
        self._used_at = self._clock()

    def close(self) -> None:
        """Close it; the next call opens one."""
        self._used_at = None
