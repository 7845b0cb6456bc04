"""What becomes of the messages of an invocation at the broker: settled, left to their locks, or taken back."""

from __future__ import annotations

from recoverable_local.service_bus.broker.holding.messages import Verb, Verdict
from recoverable_local.service_bus.broker.refusals import RefusedError
from recoverable_local.testing.azure.broker.queues import WatchedEntity
from recoverable_local.testing.azure.broker.register import broker_id as id_of
from recoverable_local.testing.azure.host.listener import Locked
from recoverable_local.testing.azure.host.worker import Flight
from recoverable_local.testing.engine.surroundings import Surroundings
from recoverable_local.testing.faults import AnswerLost, Fault, LockLost, Unreachable
from recoverable_local.testing.timeline import What

ABANDON, COMPLETE = Verdict(Verb.ABANDON), Verdict(Verb.COMPLETE)

SAID: dict[Verb, What] = {Verb.ABANDON: "abandoned", Verb.COMPLETE: "completed"}

UNREACHABLE = RefusedError("amqp:connection:forced", "Service Bus could not be reached.")


class Settling:
    """Settles the messages of one queue for a host.

    Args:
        queue: the queue.
        world: all around.
    """

    def __init__(self, queue: WatchedEntity, world: Surroundings) -> None:
        self._queue, self._world = queue, world

    def settle(self, flight: Flight, verdict: Verdict | None) -> None:
        """Settle all messages of an invocation; None leaves them to their locks."""
        if verdict is None:
            self.leave_to_their_locks(flight)
            return
        for locked in flight.batch:
            self._settle(flight, locked, verdict)

    def _settle(self, flight: Flight, locked: Locked, verdict: Verdict) -> None:
        """Settle a message; what cannot be settled comes back when its lock has run out."""
        broker_id, misfortune = id_of(locked.message.content), self._world.misfortune
        fault = misfortune.at("before", "settle", self._queue.profile.path, (broker_id,), flight.number)
        try:
            self.under(fault, flight)
            self._queue.locks.find(locked.token)
            told = "the host never heard" if fault == AnswerLost() else ""
            self.note(SAID[verdict.verb], broker_id, told, flight)
            self._queue.settle(locked.token, verdict)
        except RefusedError as refused:
            self.note("call failed", broker_id, f"{verdict.verb.value}: {refused.description}", flight)
            self.leave_to_their_locks(flight)

    def under(self, fault: Fault | None, flight: Flight) -> None:
        """Let go wrong what can with a call about an invocation's messages.

        Raises:
            RefusedError: there is no way to Service Bus.
        """
        if isinstance(fault, LockLost):
            self.take_back(flight)
        if isinstance(fault, Unreachable):
            raise UNREACHABLE

    def leave_to_their_locks(self, flight: Flight) -> None:
        """Let time pass until the locks have run out."""
        for locked in flight.batch:
            lock = locked.message.lock
            if lock is not None and lock.token == locked.token:
                self._queue.agenda.wake(lock.until)

    def take_back(self, flight: Flight) -> None:
        """Service Bus takes the locks away, as if they had run out."""
        listener = flight.listener
        if listener.session_id is not None:
            listener.step_aside()
        for locked, broker_id in zip(flight.batch, flight.ids, strict=True):
            try:
                self._queue.settle(locked.token, ABANDON)
            except RefusedError:
                continue  # gone already
            self.note("lock lost", broker_id, "", flight)
        if listener.session_id is not None:
            listener.leave_session()

    def note(self, what: What, broker_id: str, detail: str, flight: Flight) -> None:
        """Write down what happened to a message of an invocation."""
        self._world.journal.note(what, self._queue.profile.path, broker_id, detail, flight.number)
