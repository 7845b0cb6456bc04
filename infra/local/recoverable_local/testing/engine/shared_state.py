"""Hold what all functions of a world share: time, faults, journal and the count of invocations."""

from __future__ import annotations

from datetime import datetime, timedelta

from recoverable_local.testing.engine.fault_plan import FaultPlan
from recoverable_local.testing.engine.invocations import Invocations
from recoverable_local.testing.engine.scheduler import Scheduler
from recoverable_local.testing.timeline import Journal


class SharedState:
    """State that all functions of a world share.

    Args:
        start: when the world's time began.
        scheduler: the time.
        fault_plan: decides which faults happen.
        journal: records what happens.
        invocations: counts them.
    """

    def __init__(
        self, start: datetime, scheduler: Scheduler, fault_plan: FaultPlan, journal: Journal, invocations: Invocations
    ) -> None:
        self.start, self.scheduler, self.fault_plan = start, scheduler, fault_plan
        self.journal, self.invocations = journal, invocations

    def now(self) -> datetime:
        """Return the world's time."""
        return self.start + timedelta(seconds=self.scheduler.now)

    def seconds(self) -> float:
        """Return the world's time in seconds since its start."""
        return self.scheduler.now
