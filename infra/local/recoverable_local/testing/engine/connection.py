"""Keep the connection of a client to the broker, which forgets one that is idle."""

from __future__ import annotations

from collections.abc import Callable


class Connection:
    """The connection of one client, opened by a call and kept for the next.

    When it was idle for too long, the next call on it is lost. A client does not see that before.

    Args:
        clock: returns the world's time in seconds; one that stands still keeps the connection for ever.
        forgotten_after: seconds after which the broker has ended an idle one.
    """

    def __init__(self, clock: Callable[[], float], forgotten_after: float) -> None:
        self._clock, self._forgotten_after = clock, forgotten_after
        self._used_at: float | None = None  # None while it is closed

    def is_forgotten(self) -> bool:
        """True if the next call is lost."""
        return self._used_at is not None and self._clock() - self._used_at >= self._forgotten_after

    def use(self) -> None:
        """Note that it carries a call."""
        self._used_at = self._clock()

    def close(self) -> None:
        """Close it; the next call opens one."""
        self._used_at = None
