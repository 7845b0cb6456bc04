"""Runs one function on one event: an instance for it, the event in, the outcome out."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from recoverable_local.lambda_host.journal import Ended, Expired, Invoked, Journal, Started, Throttled
from recoverable_local.lambda_host.records import Record
from recoverable_local.lambda_host.responses import Verdict
from recoverable_local.lambda_host.runtime.outcomes import Outcome
from recoverable_local.lambda_host.runtime.pool import Instance, Pool
from recoverable_local.lambda_host.runtime.runtime_api import Invocation
from recoverable_local.lambda_host.sam.stack import Function


@dataclass(frozen=True, slots=True)
class Run:
    """One invocation that is over."""

    request_id: str
    pid: int
    duration: timedelta
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Invoker:
    """A function with its instances.

    Args:
        function: What is invoked.
        arn: How the context names it.
        pool: Its instances.
        journal: Told of each start, throttling and invocation.
    """

    function: Function
    arn: str
    pool: Pool
    journal: Journal

    def run(self, event: bytes, records: Sequence[Record] = (), *, patience: timedelta) -> Run | None:
        """Run the function on an event.

        Args:
            event: JSON.
            records: What the event has of messages.
            patience: How long to wait for an instance when none is free; then the event is given up and the answer is None.

        Raises:
            PoolClosed: The host is shutting down.
        """
        taken = self._instance(tuple(record["messageId"] for record in records), patience)
        if taken is None:
            return None
        instance, fresh = taken
        try:
            return self._run_on(instance, event, records, fresh=fresh)
        finally:
            self.pool.give_back(instance)

    def ended(self, run: Run, verdict: Verdict) -> Ended:
        """What there is to tell of an invocation once its messages, if it had any, are settled."""
        return Ended(
            self.function.name,
            run.request_id,
            run.pid,
            run.duration,
            run.outcome,
            verdict.completed,
            verdict.failed,
            verdict.reason,
        )

    def _instance(self, message_ids: tuple[str, ...], patience: timedelta) -> tuple[Instance, bool] | None:
        taken = self.pool.take(patience=timedelta(0))
        if taken is None:
            self.journal(Throttled(self.function.name, message_ids))
            taken = self.pool.take(patience=patience)
        if taken is None:
            self.journal(Expired(self.function.name, message_ids))
        return taken

    def _run_on(self, instance: Instance, event: bytes, records: Sequence[Record], *, fresh: bool) -> Run:
        started = time.monotonic()
        request_id = str(uuid.uuid4())
        outcome: Outcome | None = instance.initialize() if fresh else None
        if outcome is None:
            if fresh:
                self.journal(Started(self.function.name, instance.pid))
            self.journal(Invoked(self.function.name, request_id, instance.pid, tuple(records)))
            started = time.monotonic()
            outcome = instance.invoke(self._invocation(request_id, event))
        return Run(request_id, instance.pid, timedelta(seconds=time.monotonic() - started), outcome)

    def _invocation(self, request_id: str, event: bytes) -> Invocation:
        trace = uuid.uuid4().hex
        return Invocation(
            request_id=request_id,
            event=event,
            timeout=self.function.timeout,
            function_arn=self.arn,
            trace_id=f"Root=1-{int(time.time()):08x}-{trace[:24]};Parent={trace[16:]};Sampled=0",
        )
