"""Run an event source mapping: gather batches from a queue, invoke the function, delete what it completed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from recoverable_local.testing.aws.broker.broker import Broker
from recoverable_local.testing.aws.broker.queue import Queue
from recoverable_local.testing.aws.broker.refusals import Refusal
from recoverable_local.testing.aws.broker.stored import Stored
from recoverable_local.testing.aws.functions.failures import Failures
from recoverable_local.testing.aws.functions.function import Function, LambdaSharedState, RecursiveLoop
from recoverable_local.testing.aws.functions.records import Record, to_record
from recoverable_local.testing.aws.functions.responses import parse_response
from recoverable_local.testing.engine.scheduler import Item
from recoverable_local.testing.faults import DeliveredTwice, Fault, Throttled
from recoverable_local.testing.timeline import What

HOPS = 16
"""Invocations that a message's lineage may go through ("about 16": Use Lambda recursive loop detection)."""

PAYLOAD = 6 * 1024 * 1024
"""Bytes of one event (Lambda quotas)."""

ENVELOPE = 2_048
"""Bytes that a record takes besides its body, roughly."""

WAY_OUT = ", or give its queue a dead-letter queue by serve(..., error_queue=...)"
"""The redrive policy and retention, which end messages of a function that always fails."""

LONGEST_PAUSE = 60.0
"""Seconds between two tries to start a throttled invocation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingSettings:
    """The settings of an event source mapping.

    Args:
        batch_size: the most messages of one invocation.
        window: seconds to wait for a batch to fill.
        concurrency: the most invocations at a time.
        partial_responses: True if it has ReportBatchItemFailures.
        recursive_loop: what Lambda does about a message that came through the function too often.
    """

    batch_size: int
    window: float
    concurrency: int
    partial_responses: bool
    recursive_loop: RecursiveLoop


class Received(NamedTuple):
    """A message and the record of the receive that brought it: another receive has another handle and a higher count."""

    message: Stored
    record: Record


class EventSourceMapping:
    """Serves one queue with one function.

    Args:
        queue: where batches come from.
        function: what handles them.
        settings: its settings.
        broker: the queue's.
        shared_state: what the functions of the world share.
    """

    def __init__(
        self,
        queue: Queue,
        function: Function,
        settings: MappingSettings,
        broker: Broker,
        shared_state: LambdaSharedState,
    ) -> None:
        self._queue, self._function, self._settings = queue, function, settings
        self._broker, self._world = broker, shared_state
        self._failures = Failures(function.name, WAY_OUT)
        self._busy = 0
        self._batch: list[Received] = []
        self._closes_at = inf
        self._next_look: Item | None = None
        queue.changed.append(self.plan)

    def plan(self) -> None:
        """Schedule the next look at the queue: when its next message is visible or the batch's window closes, if an invocation may start then."""
        moment = min(self._queue.order.next_at(), self._closes_at)
        planned = self._next_look.moment if self._next_look else inf
        moment = inf if self._busy >= self._settings.concurrency else max(moment, self._world.scheduler.now)
        if moment == planned:
            return
        if self._next_look is not None:
            self._next_look.cancel()
        self._next_look = self._world.scheduler.at(moment, self._look) if moment < inf else None

    def _look(self) -> None:
        self._next_look = None
        self._gather()
        full = len(self._batch) >= self._settings.batch_size
        if self._batch and (full or self._world.scheduler.now >= self._closes_at):
            batch, self._batch, self._closes_at = self._batch, [], inf
            self._busy += 1
            self.plan()
            self._start(batch, pause=1.0)
        else:
            self.plan()

    def _gather(self) -> None:
        room = self._settings.batch_size - len(self._batch)
        received = self._broker.receive(self._queue, room)
        if received and not self._batch:
            self._closes_at = self._world.scheduler.now + self._settings.window
        settings, start = self._queue.settings, self._world.start
        self._batch += [Received(message, to_record(message, settings, start)) for message in received]
        ids = tuple(message.id for message in received)
        if (
            received
            and self._world.fault_plan.fault_at("before", "receive", self._queue.settings.name, ids) == DeliveredTwice()
        ):
            for message in received:
                message.deletes_to_ignore += 1

    def _start(self, batch: list[Received], pause: float) -> None:
        """Run the function; when it is throttled, try again as long as the batch stays hidden from others."""
        scheduler, ids = self._world.scheduler, tuple(each.message.id for each in batch)
        fault = self._world.fault_plan.fault_at("before", "invoke", self._queue.settings.name, ids)
        if isinstance(fault, Throttled):
            self._note(batch, "invocation failed", "throttled")
            again = scheduler.now + pause
            if again < min(each.message.visible_at for each in batch):
                scheduler.at(again, lambda: self._start(batch, min(pause * 2, LONGEST_PAUSE)))
                return
        elif self._settings.recursive_loop == "Terminate" and any(each.message.hops >= HOPS for each in batch):
            text = f"stopped as a recursive loop after {HOPS} invocations; set RecursiveLoop: Allow"
            self._note(batch, "invocation failed", text)
        else:
            for part in split(batch):
                self._run(part, fault)
        self._busy -= 1
        self.plan()
        if self._queue.settings.redrive is None:  # else SQS ends it
            self._failures.check()

    def _run(self, batch: list[Received], fault: Fault | None) -> None:
        invocation = self._function.invocation(self._queue.settings.name, [each.message for each in batch])
        receipts: dict[str, str] = {each.message.id: each.record["receiptHandle"] for each in batch}
        event = {"Records": [each.record for each in batch]}
        end = self._world.scheduler.at(self._world.scheduler.now + self._function.timeout, lambda: self._give_up(batch))
        if self._function.enforced:
            end.cancel()  # its process ends then
        answer, error = self._function.run(invocation, event, fault)
        if not self._function.enforced and self._world.scheduler.now >= end.moment:
            self._busy += 1  # its place was free since its time ended, and is not free once more
            return
        end.cancel()
        parsed = parse_response(answer, receipts, partial_responses=self._settings.partial_responses)
        self._failures.note("" if invocation.ended else error or parsed.reason)
        if error or parsed.reason:
            self._note(batch, "invocation failed", error or parsed.reason)
            return
        done = {one: receipt for one, receipt in receipts.items() if one not in parsed.failed}
        fault = self._world.fault_plan.fault_at(
            "before", "settle", self._queue.settings.name, tuple(done), invocation.number
        )
        for message_id, receipt in done.items():
            self._delete(message_id, receipt, fault)

    def _give_up(self, batch: list[Received]) -> None:
        """Take no answer for a batch any more: its function goes on, and its place is free for another."""
        self._note(batch, "invocation failed", f"no answer in {self._function.timeout:g} s; its process goes on")
        self._busy -= 1
        self.plan()

    def _delete(self, message_id: str, receipt: str, fault: Fault | None) -> None:
        """Delete a message; if that fails, it comes back, and the timeline shows it."""
        try:
            if fault is not None:
                raise Refusal(type(fault).__name__, "the event source mapping could not delete it")
            self._broker.delete(self._queue, receipt)
        except Refusal as refusal:
            self._world.journal.note("call failed", self._queue.settings.name, message_id, refusal.message)

    def _note(self, batch: list[Received], what: What, detail: str) -> None:
        for message, _ in batch:
            self._world.journal.note(what, self._queue.settings.name, message.id, detail)


def split(batch: list[Received]) -> list[list[Received]]:
    """Split the batch into events of 6 MB at most."""
    if sum(len(each.message.body) for each in batch) * 4 < PAYLOAD:
        return [batch]
    parts: list[list[Received]] = []
    room = 0
    for each in batch:
        size = len(json.dumps(each.message.body)) + ENVELOPE
        if size > room:
            parts.append([])
            room = PAYLOAD
        parts[-1].append(each)
        room -= size
    return parts
