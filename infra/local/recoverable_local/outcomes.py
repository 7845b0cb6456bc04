"""How an invocation can end on either cloud when its function has no say in it, frozen."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The function's time was over, and its process was killed."""

    after: timedelta


@dataclass(frozen=True, slots=True)
class Died:
    """The process ended in the middle, without a word; a negative code is the signal that ended it."""

    exit_code: int

    @property
    def cause(self) -> str:
        """How it ended, in words."""
        return f"signal {-self.exit_code}" if self.exit_code < 0 else f"exit status {self.exit_code}"
