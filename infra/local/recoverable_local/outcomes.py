"""Define how an invocation can end on either cloud without the function returning or raising."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The function ran longer than its timeout, and its process was killed."""

    after: timedelta


@dataclass(frozen=True, slots=True)
class Died:
    """The process ended during the invocation, without an answer. A negative exit code is the signal that ended it."""

    exit_code: int

    @property
    def cause(self) -> str:
        """Describe the exit code in words."""
        return f"signal {-self.exit_code}" if self.exit_code < 0 else f"exit status {self.exit_code}"
