"""What the functions of a world have around them: its time, what goes wrong, and what is written down."""

from __future__ import annotations

from datetime import datetime, timedelta

from recoverable_local.testing.engine.points import Misfortune
from recoverable_local.testing.engine.scheduler import Scheduler
from recoverable_local.testing.engine.virtual import Invocations
from recoverable_local.testing.timeline import Journal


class Surroundings:
    """What every function of a world shares.

    Args:
        start: when the world's time began.
        scheduler: the time.
        misfortune: what goes wrong.
        journal: told what happens.
        invocations: counts them.
    """

    def __init__(
        self, start: datetime, scheduler: Scheduler, misfortune: Misfortune, journal: Journal, invocations: Invocations
    ) -> None:
        self.start, self.scheduler, self.misfortune = start, scheduler, misfortune
        self.journal, self.invocations = journal, invocations

    def now(self) -> datetime:
        """The world's time."""
        return self.start + timedelta(seconds=self.scheduler.now)

    def seconds(self) -> float:
        """The world's time in seconds since its beginning."""
        return self.scheduler.now
