"""An event source mapping at work: one thread gathers batches from a queue, others run the function on them and settle.

One thread receives for all, since local brokers slow down with each call; it receives only when an invocation may start.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from recoverable_local.lambda_host.journal import BrokerTrouble
from recoverable_local.lambda_host.records import PAYLOAD_LIMIT, Record, size_of, split, to_event, to_record
from recoverable_local.lambda_host.responses import judge
from recoverable_local.lambda_host.runtime.invoker import Invoker
from recoverable_local.lambda_host.runtime.outcomes import Returned
from recoverable_local.lambda_host.runtime.pool import PoolClosed
from recoverable_local.lambda_host.sam.created import CreatedQueue
from recoverable_local.lambda_host.sam.stack import EventSourceMapping
from recoverable_local.lambda_host.services.sqs import Sqs

_LONG_POLL = 1  # seconds; Lambda waits for 20, which would hold up Ctrl-C
_PAUSE = 1.0  # seconds between calls to a broker that does not answer
_BREATH = 0.05  # seconds between receives at the end of a window, which is too short for a long poll


@dataclass(eq=False, slots=True)
class Poller:
    """Serves one mapping.

    Args:
        mapping: What the template says.
        queue: The queue, as the broker has it.
        fifo: Whether the queue keeps an order.
        visibility_timeout: How long a received message stays hidden.
        concurrency: The most invocations at a time.
        sqs: The broker.
        invoker: The function, whose journal is told how each batch ended.
        stopping: Set when nothing more is to be received.
    """

    mapping: EventSourceMapping
    queue: CreatedQueue
    fifo: bool
    visibility_timeout: timedelta
    concurrency: int
    sqs: Sqs
    invoker: Invoker
    stopping: threading.Event
    _slots: threading.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        """Let so many invocations begin."""
        self._slots = threading.Semaphore(self.concurrency)

    def run(self) -> None:
        """Read the queue until it is to stop, and wait until every batch is settled or given up."""
        try:
            while not self.stopping.is_set():
                self._read()
        finally:
            for _ in range(self.concurrency):
                self._slots.acquire()

    def _read(self) -> None:
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
            self._slots.release()  # else `run` would wait for an invocation that never starts
            raise

    def _gather(self) -> list[Record]:
        """Up to a batch of records: what one receive brings, or what comes until the window closes."""
        batch = self._receive(self.mapping.batch_size, wait=_LONG_POLL)
        size, closes = size_of(batch), time.monotonic() + self.mapping.window.total_seconds()
        while batch and self._wants_more(len(batch), size) and (left := closes - time.monotonic()) > 0:
            more = self._receive(self.mapping.batch_size - len(batch), wait=min(_LONG_POLL, int(left)))
            batch.extend(more)
            size += size_of(more)
            if not more and left < _LONG_POLL:
                self.stopping.wait(min(left, _BREATH))
        return batch

    def _wants_more(self, count: int, size: int) -> bool:
        full = count >= self.mapping.batch_size or size >= PAYLOAD_LIMIT
        return not full and not self.stopping.is_set()

    def _receive(self, most: int, *, wait: int) -> list[Record]:
        url, arn = self.queue.url, self.queue.arn
        messages = self._call("ReceiveMessage", lambda: self.sqs.receive(url, most=most, wait=wait))
        return [to_record(message, queue_arn=arn) for message in messages or []]

    def _serve(self, batch: list[Record], received: float) -> None:
        try:
            for records in split(batch):
                if not self._serve_event(records, received) and self.fifo:
                    return  # what follows would overtake what failed
        except PoolClosed:
            return  # the batch comes back after its visibility timeout
        finally:
            self._slots.release()

    def _serve_event(self, records: list[Record], received: float) -> bool:
        """Run the function on the records of one event and settle them; False when one of them failed."""
        hidden = self.visibility_timeout - timedelta(seconds=time.monotonic() - received)
        run = self.invoker.run(to_event(records), records, patience=hidden)
        if run is None or (self.stopping.is_set() and not isinstance(run.outcome, Returned)):
            return False
        handles = {record["messageId"]: record["receiptHandle"] for record in records}
        verdict = judge(run.outcome, tuple(handles), partial_responses=self.mapping.partial_responses)
        self._delete([handles[message_id] for message_id in verdict.completed])
        self.invoker.journal(self.invoker.ended(run, verdict))
        return not verdict.failed

    def _delete(self, handles: Sequence[str]) -> None:
        name = "DeleteMessageBatch"
        refused = self._call(name, lambda: self.sqs.delete(self.queue.url, handles))
        for reason in refused or []:
            self.invoker.journal(BrokerTrouble(name, reason, "the message comes back after its visibility timeout"))

    def _call(self, name: str, call: Callable[[], Any]) -> Any:
        """Make a call to the broker; None, after a pause, when it fails."""
        try:
            return call()
        except (BotoCoreError, ClientError) as error:
            if not self.stopping.is_set():
                self.invoker.journal(BrokerTrouble(name, str(error), "messages stay on the queue; polling goes on"))
                self.stopping.wait(_PAUSE)
            return None
