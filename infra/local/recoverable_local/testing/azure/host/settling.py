"""Settle the messages of an invocation at the broker, leave them to their locks, or take their locks away."""

from __future__ import annotations

from recoverable_local.service_bus.broker.holding.messages import Verb, Verdict
from recoverable_local.service_bus.broker.refusals import RefusedError
from recoverable_local.testing.azure.broker.queues import JournaledQueue
from recoverable_local.testing.azure.broker.register import broker_id as id_of
from recoverable_local.testing.azure.host.listener import Locked
from recoverable_local.testing.azure.host.worker import PendingInvocation
from recoverable_local.testing.engine.shared_state import SharedState
from recoverable_local.testing.faults import AnswerLost, Fault, LockLost, Unreachable
from recoverable_local.testing.timeline import What

ABANDON, COMPLETE = Verdict(Verb.ABANDON), Verdict(Verb.COMPLETE)

EVENTS: dict[Verb, What] = {Verb.ABANDON: "abandoned", Verb.COMPLETE: "completed"}

UNREACHABLE = RefusedError("amqp:connection:forced", "Service Bus could not be reached.")


class Settling:
    """Settles the messages of one queue for a host.

    Args:
        queue: the queue.
        world: what the functions of the world share.
    """

    def __init__(self, queue: JournaledQueue, world: SharedState) -> None:
        self._queue, self._world = queue, world

    def settle(self, pending: PendingInvocation, verdict: Verdict | None) -> None:
        """Settle all messages of an invocation; None leaves them to their locks."""
        if verdict is None:
            self.leave_to_their_locks(pending)
            return
        for locked in pending.batch:
            self._settle(pending, locked, verdict)

    def _settle(self, pending: PendingInvocation, locked: Locked, verdict: Verdict) -> None:
        """Settle a message; if that fails, it comes back when its lock runs out."""
        broker_id, fault_plan = id_of(locked.message.content), self._world.fault_plan
        fault = fault_plan.fault_at("before", "settle", self._queue.profile.path, (broker_id,), pending.number)
        try:
            self.apply_fault(fault, pending)
            self._queue.locks.find(locked.token)
            detail = "the host never heard" if fault == AnswerLost() else ""
            self.note(EVENTS[verdict.verb], broker_id, detail, pending)
            self._queue.settle(locked.token, verdict)
        except RefusedError as refused:
            self.note("call failed", broker_id, f"{verdict.verb.value}: {refused.description}", pending)
            self.leave_to_their_locks(pending)

    def apply_fault(self, fault: Fault | None, pending: PendingInvocation) -> None:
        """Apply the fault of a call about an invocation's messages.

        Raises:
            RefusedError: there is no way to Service Bus.
        """
        if isinstance(fault, LockLost):
            self.take_back(pending)
        if isinstance(fault, Unreachable):
            raise UNREACHABLE

    def leave_to_their_locks(self, pending: PendingInvocation) -> None:
        """Let time pass until the locks run out."""
        for locked in pending.batch:
            lock = locked.message.lock
            if lock is not None and lock.token == locked.token:
                self._queue.agenda.wake(lock.until)

    def take_back(self, pending: PendingInvocation) -> None:
        """Take the locks away, as if they had run out."""
        listener = pending.listener
        if listener.session_id is not None:
            listener.step_aside()
        for locked, broker_id in zip(pending.batch, pending.ids, strict=True):
            try:
                self._queue.settle(locked.token, ABANDON)
            except RefusedError:
                continue  # gone already
            self.note("lock lost", broker_id, "", pending)
        if listener.session_id is not None:
            listener.leave_session()

    def note(self, what: What, broker_id: str, detail: str, pending: PendingInvocation) -> None:
        """Record what happened to a message of an invocation."""
        self._world.journal.note(what, self._queue.profile.path, broker_id, detail, pending.number)
