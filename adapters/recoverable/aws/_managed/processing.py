"""Process a batch on Lambda Managed Instances: settle by receipt handle what no answer reaches Lambda in time for."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from recoverable._flow.settle import hand_back
from recoverable._ladder.delivery import COMPLETE, delivery_of
from recoverable._observe.log import log_safely
from recoverable._sqs.broker import Broker
from recoverable._sqs.queues import Queue
from recoverable.aws._heartbeat.processing import beats_for
from recoverable.aws._heartbeat.timer import call_later
from recoverable.aws._managed.watch import Watch
from recoverable.aws._send import send_outgoing
from recoverable.aws._settle import Settling, delete, settle

if TYPE_CHECKING:
    from collections.abc import Callable

    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._message import Message
    from recoverable.aws._batch import ProcessBatch, RunHandlers
    from recoverable.aws._heartbeat.beats import Beats
    from recoverable.aws._time_budget import TimeBudget
    from recoverable.hosting import Environment
    from recoverable.timeouts import Timeouts

log = logging.getLogger("recoverable")

HOLD = timedelta(minutes=2)
"""For how long a message is hidden at a time while its handler cannot be stopped, where the endpoint has no heartbeat."""

LAST_MOMENT = 0.5
"""Seconds before the end of an invocation from which on its answer may reach Lambda too late."""

KEPT = (
    "A handler raised %s, which is a failed attempt. It does not end its process, for Lambda starts none in its place on Managed "
    "Instances. Raise another exception instead."
)

NOT_BEGUN = "another handler of its batch does not end, and cannot be stopped"
"""Why messages are handed back that wait behind such a handler."""


def on_managed_instances(process_batch: ProcessBatch) -> ProcessBatch:
    """Return `process_batch` with what Lambda does not do on Managed Instances.

    Shortly before the time ends, a thread looks whether a handler is still at work. Then it settles the others, and keeps that handler's
    message hidden, so that it does not run beside its own redelivery. What ends later is settled by its receipt handle.

    Args:
        process_batch: see `batch.process_batch`, as for the arguments of what is returned.
    """

    def process(
        messages: list[Message],
        restored: list[Delivery],
        queue: Queue,
        run_handlers: RunHandlers,
        invocation: Invocation,
        time: TimeBudget,
        *,
        environment: Environment,
        timeouts: Timeouts | None,
        partial: bool,
    ) -> list[Delivery]:
        time.ends, deliveries = False, [delivery_of(message) for message in messages]
        batch = Batch(queue, invocation, time, environment, timeouts)
        invocation.heartbeat = watch = batch.watch(deliveries)
        cancel = (environment.later or call_later)(batch.seconds_until_look(), watch.take_over)
        try:
            unfinished = process_batch(
                messages, restored, queue, lambda group, _: watch.run(run_handlers, group), invocation, time,
                environment=environment, timeouts=timeouts, partial=partial,
            )  # fmt: skip
            if watch.late:
                completed = [each for each in deliveries if invocation.settlement_of(each) is COMPLETE]
                if here := [each for each in completed if each not in watch.ended]:
                    delete(here, Settling(batch.broker(), time, invocation))
            keep_process(invocation)
            return unfinished
        finally:
            cancel()
            watch.close()

    return process


def keep_process(invocation: Invocation) -> None:
    """Raise no exception again with which a handler wanted to end the process: all is settled, and Lambda starts none in its place."""
    if invocation.interruption is not None:
        name = type(invocation.interruption).__name__
        log_safely(log.warning, KEPT, name)
        invocation.interruption = None


class Batch(NamedTuple):
    """The records of one invocation, and what settling them needs.

    Args:
        queue: where they came from.
        invocation: what they run in.
        time: the invocation's time.
        environment: what the invocation works with.
        timeouts: where copies are stored that must wait longer than SQS delays them; None where they hop.
    """

    queue: Queue
    invocation: Invocation
    time: TimeBudget
    environment: Environment
    timeouts: Timeouts | None

    def watch(self, deliveries: list[Delivery]) -> Watch:
        """Return what watches the handlers of these deliveries."""
        return Watch(
            deliveries, self.invocation, hold=self.hold, settle=self.settle, hand_back=self.hand_back,
            sleep=self.environment.sleep, is_late=self.is_late,
        )  # fmt: skip

    def broker(self) -> Broker:
        """Return the queue's broker."""
        return Broker(self.queue, self.environment, self.time)

    def seconds_until_look(self) -> float:
        """Return after how many seconds a handler that is still at work cannot be stopped: it was asked to end before."""
        return max(self.seconds_left() - self.time.call_timeout, 0.0)

    def is_late(self) -> bool:
        """True once an answer may not reach Lambda in time."""
        return self.seconds_left() < LAST_MOMENT

    def seconds_left(self) -> float:
        """Return the seconds until Lambda takes no answer any more."""
        remaining: Callable[[], float] | None = getattr(self.time.context, "get_remaining_time_in_millis", None)
        return remaining() / 1000 if remaining is not None else self.time.total

    def hold(self, deliveries: list[Delivery]) -> Beats:
        """Keep messages hidden from now on; return what does."""
        beats = beats_for(HOLD, self.queue, self.time, self.environment)
        beats.begin(deliveries)
        return beats

    def hand_back(self, deliveries: list[Delivery]) -> None:
        """Note that messages are handed back without being run."""
        for delivery in deliveries:
            self.invocation.settle(delivery, hand_back(delivery, self.invocation, reason=NOT_BEGUN))

    def settle(self, deliveries: list[Delivery]) -> None:
        """Send what handlers sent that have ended, and settle the deliveries."""
        send_outgoing(self.invocation, self.queue, self.environment, self.time, self.timeouts)
        settle(deliveries, self.queue, self.environment, self.time, self.timeouts, self.invocation, complete_now=True)
