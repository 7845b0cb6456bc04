"""A schedule at work: one thread that invokes a function again and again."""

from __future__ import annotations

import json
import threading
import time
import uuid
from datetime import UTC, datetime, timedelta

from recoverable.local.aws.invoker import Invoker
from recoverable.local.aws.journal import Journal
from recoverable.local.aws.outcomes import Returned
from recoverable.local.aws.pool import PoolClosed
from recoverable.local.aws.responses import judge
from recoverable.local.aws.sam.stack import Schedule


class Ticker:
    """Serves one schedule between `start` and `stop`.

    The first invocation comes after one interval, as with EventBridge. Unlike there one is never begun before the last is over: with a
    shortened interval they would pile up. What fails is not run again; the next comes soon enough.

    Args:
        schedule: What the template says.
        every: The time between the beginnings of two invocations.
        invoker: The function.
        journal: Told how each invocation ended.
    """

    def __init__(self, schedule: Schedule, *, every: timedelta, invoker: Invoker, journal: Journal) -> None:
        self._schedule, self._every, self._invoker, self._journal = schedule, every, invoker, journal
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._tick, name=f"tick-{schedule.name}", daemon=True)

    def start(self) -> None:
        """Begin to wait for the first invocation."""
        self._thread.start()

    def stop(self) -> None:
        """Begin no more; the one that runs goes on."""
        self._stopping.set()

    def join(self) -> None:
        """Wait, after `stop`, until the last invocation is over."""
        self._thread.join()

    def _tick(self) -> None:
        due = time.monotonic() + self._every.total_seconds()
        while not self._stopping.wait(max(0.0, due - time.monotonic())):
            due = max(due, time.monotonic()) + self._every.total_seconds()
            try:
                self._invoke()
            except PoolClosed:
                return

    def _invoke(self) -> None:
        event = self._schedule.input or scheduled_event(self._schedule, self._invoker.arn, datetime.now(UTC))
        run = self._invoker.run(event.encode(), patience=self._every)
        if run is None or (self._stopping.is_set() and not isinstance(run.outcome, Returned)):
            return
        no_messages = judge(run.outcome, (), partial_responses=False)
        self._journal(self._invoker.ended(run, no_messages))


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
