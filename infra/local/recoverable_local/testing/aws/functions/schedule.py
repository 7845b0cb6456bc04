"""Invoke a function at each interval, as a rule of EventBridge does."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from recoverable_local.testing.aws.broker.queues import ACCOUNT, REGION
from recoverable_local.testing.aws.functions.failures import Failures
from recoverable_local.testing.aws.functions.function import Function, LambdaSharedState
from recoverable_local.testing.faults import Throttled


class Schedule:
    """Invokes one function at each interval. Time does not advance for it alone, because it never ends.

    Args:
        function: the function.
        every: seconds between the starts of two invocations.
        shared_state: what the functions of the world share.
    """

    def __init__(self, function: Function, every: float, shared_state: LambdaSharedState) -> None:
        self._function, self._every, self._world = function, every, shared_state
        self._failures = Failures(function.name, "")

    def plan(self) -> None:
        """Schedule the next invocation, one interval from now."""
        self._world.scheduler.at_passively(self._world.seconds() + self._every, self._invoke)

    def _invoke(self) -> None:
        self.plan()
        name = self._function.name
        fault = self._world.fault_plan.fault_at("before", "invoke", name, ())
        if isinstance(fault, Throttled):
            return  # the next interval follows
        invocation = self._function.invocation(name, ())
        _, error = self._function.run(invocation, self._event(invocation.number), fault)
        self._failures.note("" if invocation.ended else error)
        self._failures.check()

    def _event(self, number: int) -> dict[str, Any]:
        """Return the event that EventBridge sends (Amazon EventBridge, "Creating a rule that runs on a schedule")."""
        return {
            "version": "0",
            "id": str(UUID(int=number)),
            "detail-type": "Scheduled Event",
            "source": "aws.events",
            "account": ACCOUNT,
            "time": f"{self._world.now():%Y-%m-%dT%H:%M:%SZ}",
            "region": REGION,
            "resources": [f"arn:aws:events:{REGION}:{ACCOUNT}:rule/{self._function.name}"],
            "detail": {},
        }
