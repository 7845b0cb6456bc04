"""Invoke a function at each interval of its schedule, in one thread."""

from __future__ import annotations

import json
import threading
import time
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from recoverable_local.lambda_host.responses import batch_result
from recoverable_local.lambda_host.runtime.invoker import Invoker
from recoverable_local.lambda_host.runtime.outcomes import Returned
from recoverable_local.lambda_host.runtime.pool import PoolClosed
from recoverable_local.lambda_host.sam.stack import Schedule


@dataclass(frozen=True, slots=True)
class ScheduleRunner:
    """Runs one schedule.

    The first invocation starts after one interval, as with EventBridge. Unlike EventBridge, an invocation starts only when the previous
    one has ended: with a shortened interval they would pile up. A failed invocation is not repeated; the next interval follows.

    Args:
        schedule: The schedule's settings in the template.
        every: The time between the starts of two invocations.
        invoker: Runs the function; its journal records how each invocation ended.
        stopping: Set to start no more invocations.
    """

    schedule: Schedule
    every: timedelta
    invoker: Invoker
    stopping: threading.Event

    def run(self) -> None:
        """Invoke the function at each interval until `stopping` is set, and wait until the last invocation is over."""
        due = time.monotonic() + self.every.total_seconds()
        while not self.stopping.wait(max(0.0, due - time.monotonic())):
            due = max(due, time.monotonic()) + self.every.total_seconds()
            try:
                self._invoke()
            except PoolClosed:
                return

    def _invoke(self) -> None:
        event = self.schedule.input or scheduled_event(self.schedule, self.invoker.arn, datetime.now(UTC))
        run = self.invoker.run(event.encode(), timeout=self.every)
        if run is None or (self.stopping.is_set() and not isinstance(run.outcome, Returned)):
            return
        no_messages = batch_result(run.outcome, (), partial_responses=False)
        self.invoker.ends_of(run)
        self.invoker.end(run, no_messages)


def scheduled_event(schedule: Schedule, function_arn: str, now: datetime) -> str:
    """Build the event that EventBridge sends for a scheduled rule, or EventBridge Scheduler for a schedule, as JSON.

    Sources: Amazon EventBridge, "Creating a rule that runs on a schedule"; EventBridge Scheduler, "Managing targets".

    Args:
        schedule: The schedule; its name is the rule's name.
        function_arn: The function's ARN, for region and account.
        now: The event's time, with a time zone.
    """
    region, account = function_arn.split(":")[3:5]
    event = {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": "Scheduled Event",
        "source": "aws.scheduler" if schedule.by_scheduler else "aws.events",
        "account": account,
        "time": f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "region": region,
        "resources": [_arn(schedule, region, account)],
        "detail": "{}" if schedule.by_scheduler else {},
    }
    return json.dumps(event)


def _arn(schedule: Schedule, region: str, account: str) -> str:
    if schedule.by_scheduler:
        return f"arn:aws:scheduler:{region}:{account}:schedule/default/{schedule.name}"
    return f"arn:aws:events:{region}:{account}:rule/{schedule.name}"
