"""Run one function on one event: take an instance, send the event, return the outcome."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from recoverable_local.decisions import Decided, FactsFile
from recoverable_local.lambda_host.journal import Ended, Expired, Invoked, Journal, Started, Throttled
from recoverable_local.lambda_host.records import Record, name_of
from recoverable_local.lambda_host.responses import BatchResult
from recoverable_local.lambda_host.runtime.outcomes import Outcome
from recoverable_local.lambda_host.runtime.pool import Instance, Pool
from recoverable_local.lambda_host.runtime.runtime_api import Invocation
from recoverable_local.lambda_host.sam.stack import Function


@dataclass(frozen=True, slots=True)
class Run:
    """An invocation that has ended."""

    request_id: str
    pid: int
    duration: timedelta
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Invoker:
    """A function with its instances.

    Args:
        function: The function to invoke.
        arn: Its ARN, as in the context's `invoked_function_arn`.
        pool: Its instances.
        journal: Records each start, throttling and invocation.
        facts: The file with the decisions of the endpoints.
        stop: Ends what goes on after its time-out, once the pool is closed.
    """

    function: Function
    arn: str
    pool: Pool
    journal: Journal
    facts: FactsFile
    stop: Callable[[], None] = lambda: None

    def run(self, event: bytes, records: Sequence[Record] = (), *, timeout: timedelta) -> Run | None:
        """Run the function on an event. Return None if no instance became free in time.

        Args:
            event: JSON.
            records: The event's records, if it is one of a batch.
            timeout: The longest wait for a free instance.

        Raises:
            PoolClosed: The host is shutting down.
        """
        taken = self._take_instance(tuple(map(name_of, records)), timeout)
        if taken is None:
            return None
        instance, is_new = taken
        try:
            return self._run_on(instance, event, records, is_new=is_new)
        finally:
            self.pool.give_back(instance)

    def ends_of(self, run: Run) -> dict[str, Decided]:
        """Record what the endpoint of an invocation decided, and return what it has done with its messages, by their ids."""
        self.facts.pass_on(self.journal)
        return self.facts.ends_of(run.request_id)

    def end(self, run: Run, result: BatchResult, after: timedelta | None = None) -> None:
        """Record the end of an invocation whose messages, if it had any, are settled; those that failed come back after this time."""
        ended = Ended(
            self.function.name,
            run.request_id,
            run.pid,
            run.duration,
            run.outcome,
            result.completed,
            result.failed,
            result.reason,
            after,
        )
        self.journal(ended)

    def _take_instance(self, message_ids: tuple[str, ...], timeout: timedelta) -> tuple[Instance, bool] | None:
        taken = self.pool.take(timeout=timedelta(0))
        if taken is None:
            self.journal(Throttled(self.function.name, message_ids))
            taken = self.pool.take(timeout=timeout)
        if taken is None:
            self.journal(Expired(self.function.name, message_ids))
        return taken

    def _run_on(self, instance: Instance, event: bytes, records: Sequence[Record], *, is_new: bool) -> Run:
        started = time.monotonic()
        request_id = str(uuid.uuid4())
        outcome: Outcome | None = instance.initialize() if is_new else None
        if outcome is None:
            if is_new:
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
