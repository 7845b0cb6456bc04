"""Count the invocations of a world, and say why a run is ended."""

from __future__ import annotations


class EndlessRun(Exception):
    """One `run` took more invocations than allowed: a message comes back for ever."""


class HandlerBlocked(Exception):
    """A handler blocked in real time for longer than its time-out, which ends it in production."""


class Invocations:
    """Counts the invocations of a world, and ends a run that takes too many.

    Args:
        most: how many one run may take.
    """

    def __init__(self, most: int) -> None:
        self._most, self._number, self._last = most, 0, most

    def start_again(self) -> None:
        """Start a new run, with its full number of invocations."""
        self._last = self._number + self._most

    def next_number(self, *, limited: bool = True) -> int:
        """Return the number of a new invocation, from 1.

        Args:
            limited: False for one that does not count, because time limits it: that of a schedule.

        Raises:
            EndlessRun: it is one too many.
        """
        self._last += not limited
        if self._number >= self._last:
            raise EndlessRun(
                f"{self._most:,} invocations, and still messages come back; print(world.timeline()) shows why, most_invocations allows more"
            )
        self._number += 1
        return self._number
