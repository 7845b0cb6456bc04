"""A schedule at work: one thread that invokes a function again and again."""

from __future__ import annotations

import json
import threading
import time
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from recoverable_local.lambda_host.responses import judge
from recoverable_local.lambda_host.runtime.invoker import Invoker
from recoverable_local.lambda_host.runtime.outcomes import Returned
from recoverable_local.lambda_host.runtime.pool import PoolClosed
from recoverable_local.lambda_host.sam.stack import Schedule


@dataclass(frozen=True, slots=True)
class Ticker:
    """Serves one schedule.

    The first invocation comes after one interval, as with EventBridge. Unlike there one is never begun before the last is over: with a
    shortened interval they would pile up. What fails is not run again; the next comes soon enough.

    Args:
        schedule: What the template says.
        every: The time between the beginnings of two invocations.
        invoker: The function, whose journal is told how each invocation ended.
        stopping: Set when no more are to begin.
    """

    schedule: Schedule
    every: timedelta
    invoker: Invoker
    stopping: threading.Event

    def run(self) -> None:
        """Invoke the function again and again until it is to stop, and wait until the last invocation is over."""
        due = time.monotonic() + self.every.total_seconds()
        while not self.stopping.wait(max(0.0, due - time.monotonic())):
            due = max(due, time.monotonic()) + self.every.total_seconds()
            try:
                self._invoke()
            except PoolClosed:
                return

    def _invoke(self) -> None:
        event = self.schedule.input or scheduled_event(self.schedule, self.invoker.arn, datetime.now(UTC))
        run = self.invoker.run(event.encode(), patience=self.every)
        if run is None or (self.stopping.is_set() and not isinstance(run.outcome, Returned)):
            return
        no_messages = judge(run.outcome, (), partial_responses=False)
        self.invoker.journal(self.invoker.ended(run, no_messages))


def scheduled_event(schedule: Schedule, function_arn: str, now: datetime) -> str:
    """What EventBridge sends for a rule with a schedule, as JSON; Amazon EventBridge, "Creating a rule that runs on a schedule".

    Args:
        schedule: Whose event it is.
        function_arn: The function's, for region and account.
        now: Aware of its zone.
    """
    region, account = function_arn.split(":")[3:5]
    event = {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": account,
        "time": f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "region": region,
        "resources": [f"arn:aws:events:{region}:{account}:rule/{schedule.name}"],
        "detail": {},
    }
    return json.dumps(event)
