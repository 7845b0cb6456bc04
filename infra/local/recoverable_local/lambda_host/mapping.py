"""Serve an event source mapping: one thread receives batches from a queue, others run the function on them and settle.

Only one thread receives, because local brokers slow down with each call. It receives only when an invocation can start.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from recoverable_local.decisions import says_end
from recoverable_local.lambda_host.filtering import passes
from recoverable_local.lambda_host.journal import BrokerTrouble, FilteredOut
from recoverable_local.lambda_host.records import PAYLOAD_LIMIT, Record, name_of, size_of, split, to_event, to_record
from recoverable_local.lambda_host.responses import batch_result
from recoverable_local.lambda_host.runtime.invoker import Invoker, Run
from recoverable_local.lambda_host.runtime.outcomes import Raised, Returned
from recoverable_local.lambda_host.runtime.pool import PoolClosed
from recoverable_local.lambda_host.sam.created import CreatedQueue
from recoverable_local.lambda_host.sam.stack import EventSourceMapping
from recoverable_local.lambda_host.services.sqs import Sqs
from recoverable_local.outcomes import TimedOut

_LONG_POLL = 1  # seconds; Lambda waits 20, which would delay Ctrl-C
_PAUSE = 1.0  # seconds between calls to a broker that does not answer
_SHORT_WAIT = 0.05  # seconds between receives when the rest of the batching window is too short for a long poll


@dataclass(eq=False, slots=True)
class Poller:
    """Polls the queue of one mapping and invokes its function.

    Args:
        mapping: The mapping's settings in the template.
        queue: The queue's name, URL and ARN on the broker.
        fifo: True for a FIFO queue.
        visibility_timeout: How long a received message stays hidden.
        redeliver_after: How long after a time-out or crash the messages of the invocation come back; None for that time, too.
        concurrency: The most invocations at a time.
        sqs: The broker.
        invoker: Runs the function; its journal records how each batch ended.
        stopping: Set to end polling.
    """

    mapping: EventSourceMapping
    queue: CreatedQueue
    fifo: bool
    visibility_timeout: timedelta
    redeliver_after: timedelta | None
    concurrency: int
    sqs: Sqs
    invoker: Invoker
    stopping: threading.Event
    _slots: threading.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        """Create the semaphore that limits concurrent invocations."""
        self._slots = threading.Semaphore(self.concurrency)

    def run(self) -> None:
        """Poll until `stopping` is set, then wait until every batch is settled or abandoned."""
        try:
            while not self.stopping.is_set():
                self._poll()
        finally:
            for _ in range(self.concurrency):
                self._slots.acquire()

    def _poll(self) -> None:
        self._slots.acquire()
        received = time.monotonic()
        if batch := [] if self.stopping.is_set() else self._gather_or_release():
            name = f"batch-{self.mapping.name}"
            threading.Thread(target=self._serve, args=(batch, received), name=name, daemon=True).start()
        else:
            self._slots.release()

    def _gather_or_release(self) -> list[Record]:
        try:
            return self._gather()
        except BaseException:
            self._slots.release()  # otherwise `run` would wait for an invocation that never starts
            raise

    def _gather(self) -> list[Record]:
        """Collect up to one batch of records: from one receive, or from all receives until the batching window closes."""
        batch = self._receive(self.mapping.batch_size, wait=_LONG_POLL)
        size, closes = size_of(batch), time.monotonic() + self.mapping.window.total_seconds()
        while batch and self._wants_more(len(batch), size) and (remaining := closes - time.monotonic()) > 0:
            more = self._receive(self.mapping.batch_size - len(batch), wait=min(_LONG_POLL, int(remaining)))
            batch.extend(more)
            size += size_of(more)
            if not more and remaining < _LONG_POLL:
                self.stopping.wait(min(remaining, _SHORT_WAIT))
        return batch

    def _wants_more(self, count: int, size: int) -> bool:
        full = count >= self.mapping.batch_size or size >= PAYLOAD_LIMIT
        return not full and not self.stopping.is_set()

    def _receive(self, max_messages: int, *, wait: int) -> list[Record]:
        url, arn = self.queue.url, self.queue.arn
        messages = self._call("ReceiveMessage", lambda: self.sqs.receive(url, max_messages=max_messages, wait=wait))
        return self._filtered([to_record(message, queue_arn=arn) for message in messages or []])

    def _filtered(self, records: list[Record]) -> list[Record]:
        """Delete the records that pass no filter, as Lambda does, and return the others."""
        passing = [record for record in records if passes(record, self.mapping.filters)]
        if dropped := [record for record in records if record not in passing]:
            self._delete([record["receiptHandle"] for record in dropped])
            self.invoker.journal(FilteredOut(self.mapping.name, tuple(map(name_of, dropped))))
        return passing

    def _serve(self, batch: list[Record], received: float) -> None:
        try:
            for records in split(batch):
                if not self._serve_event(records, received) and self.fifo:
                    return  # on a FIFO queue the next records must not be processed before the failed ones
        except PoolClosed:
            return  # the batch becomes visible again after its visibility timeout
        finally:
            self._slots.release()

    def _serve_event(self, records: list[Record], received: float) -> bool:
        """Run the function on the records of one event and settle them. Return False if one of them failed."""
        hidden = self.visibility_timeout - timedelta(seconds=time.monotonic() - received)
        run = self.invoker.run(to_event(records), records, timeout=hidden)
        if run is None or (self.stopping.is_set() and not isinstance(run.outcome, Returned)):
            return False
        handles = {record["messageId"]: record["receiptHandle"] for record in records}
        names = {record["messageId"]: name_of(record) for record in records}
        result = batch_result(run.outcome, tuple(handles), partial_responses=self.mapping.partial_responses)
        self._delete([handles[message_id] for message_id in result.completed])
        ends = self.invoker.ends_of(run)
        gone = {each for each in result.failed if (end := ends.get(names[each])) and end.done and end.stays is False}
        left = [handles[each] for each in result.failed if not says_end(ends.get(names[each]), comes_back=True)]
        after = self.redeliver_after if self._has_no_process(run) else None
        if after is not None:
            visible = partial(self.sqs.make_visible, self.queue.url, left, after)
            self._call("ChangeMessageVisibilityBatch", visible)
        self.invoker.end(run, result.named(names, gone), after)
        return not result.failed

    def _has_no_process(self, run: Run) -> bool:
        """True if no handler can still be at work on an invocation that failed; on Managed Instances nothing is killed at a time-out."""
        goes_on = isinstance(run.outcome, TimedOut) and self.invoker.function.processes is not None
        return not goes_on and not isinstance(run.outcome, Returned | Raised)

    def _delete(self, handles: Sequence[str]) -> None:
        name = "DeleteMessageBatch"
        refused = self._call(name, lambda: self.sqs.delete(self.queue.url, handles))
        for reason in refused or []:
            self.invoker.journal(BrokerTrouble(name, reason, "the message comes back after its visibility timeout"))

    def _call(self, name: str, call: Callable[[], Any]) -> Any:
        """Make a call to the broker. When it fails, record that, pause, and return None."""
        try:
            return call()
        except (BotoCoreError, ClientError) as error:
            if not self.stopping.is_set():
                self.invoker.journal(BrokerTrouble(name, str(error), "messages stay on the queue; polling goes on"))
                self.stopping.wait(_PAUSE)
            return None
