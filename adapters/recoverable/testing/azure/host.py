"""An instance of a function app: the Functions host that serves one function, and its worker process."""

from __future__ import annotations

from functools import partial

from recoverable.local.service_bus.broker.messages import Message, Verb, Verdict
from recoverable.local.service_bus.broker.refusals import RefusedError

from ..faults import AnswerLost, Fault, LockLost, Unreachable
from ..invocation import LOST, Invocation
from ..timeline import What
from .app import Triggered
from .function import Surroundings, run
from .listener import HostSettings, Listener
from .queues import WatchedEntity
from .worker import Flight, Worker

ABANDON, COMPLETE = Verdict(Verb.ABANDON), Verdict(Verb.COMPLETE)

SAID: dict[Verb, What] = {Verb.ABANDON: "abandoned", Verb.COMPLETE: "completed"}

MARGIN = 10.0
"""Seconds before its end at which a lock is renewed, or half of what is left (azure-sdk-for-net, `ReceiverManager.CalculateRenewDelay`)."""

UNREACHABLE = RefusedError("amqp:connection:forced", "Service Bus could not be reached.")


class Host:
    """One instance.

    Args:
        function: what it serves.
        queue: where messages come from.
        settings: its host.json.
        world: all around.
    """

    def __init__(
        self, function: Triggered, queue: WatchedEntity, settings: HostSettings, world: Surroundings
    ) -> None:
        self._function, self._queue, self._settings, self._world = function, queue, settings, world
        self._start()

    def _start(self) -> None:
        """A new machine, with a new process."""
        settings = self._settings
        self._worker = self._new_worker()
        many, sessions = self._function.many, self._queue.profile.sessions
        listeners = settings.concurrency if sessions else 1
        at_a_time = 1 if sessions or many else settings.concurrency
        size = settings.batch_size if many else 1
        self._listeners = [
            Listener(self._queue, self._world.scheduler, self._run, concurrency=at_a_time, batch_size=size)
            for _ in range(listeners)
        ]
        for listener in self._listeners:
            listener.listen()

    def _new_worker(self) -> Worker:
        return Worker(self._world.new_client(), self._world.seconds)

    def _run(self, messages: list[Message], listener: Listener) -> None:
        """Messages, from their lock to their settlement."""
        worker, world = self._worker, self._world
        tokens = [message.lock.token for message in messages if message.lock]
        flight = Flight(messages, listener, tokens, world.seconds())
        for message, broker_id in zip(messages, flight.ids, strict=True):
            self._note("received", broker_id, f"delivery {message.delivery_count + 1}")
        flight.invocation = invocation = Invocation(
            world.invocations.next_number(),
            self._queue.profile.path,
            flight.ids,
            slot := worker.slot(),
            timeout=self._settings.timeout,
            scheduler=world.scheduler,
            expire=partial(self._take_back, flight),
            ending=partial(self._ended, worker),
        )
        worker.flights.append(flight)
        self._plan_renewal(flight)
        error = run(self._function, messages, invocation, worker.client, world)
        worker.give_back(slot, flight)
        if error:
            for broker_id in flight.ids:
                self._note("invocation failed", broker_id, error)
        if flight.land():
            self._finish(flight, ABANDON if error else COMPLETE if self._function.completes else None)

    def _ended(self, worker: Worker, how: str) -> None:
        """The worker's process has ended, and all invocations in it: the host abandons their messages, unless it is gone itself."""
        flights = worker.end(how)
        if how != LOST:
            self._worker = self._new_worker()
            for flight in flights:
                self._finish(flight, ABANDON)
            return
        for listener in self._listeners:
            listener.lose()
        for flight in flights:
            self._leave_to_their_locks(flight)
        self._world.scheduler.at(self._world.seconds(), self._start)

    def _finish(self, flight: Flight, verdict: Verdict | None) -> None:
        flight.listener.free()
        if verdict is None:
            self._leave_to_their_locks(flight)
        else:
            for place in range(len(flight.messages)):
                self._settle(flight, place, verdict)
        flight.listener.look()

    def _settle(self, flight: Flight, place: int, verdict: Verdict) -> None:
        """Settle a message; what cannot be settled comes back when its lock has run out."""
        broker_id, misfortune = flight.ids[place], self._world.misfortune
        number = flight.invocation.number if flight.invocation else 0
        fault = misfortune.at("before", "settle", self._queue.profile.path, (broker_id,), number)
        try:
            self._under(fault, flight)
            self._queue.locks.find(flight.tokens[place])
            self._note(SAID[verdict.verb], broker_id, "the host never heard" if fault == AnswerLost() else "")
            self._queue.settle(flight.tokens[place], verdict)
        except RefusedError as refused:
            self._note("call failed", broker_id, f"{verdict.verb.value}: {refused.description}")
            self._leave_to_their_locks(flight)

    def _under(self, fault: Fault | None, flight: Flight) -> None:
        if isinstance(fault, LockLost):
            self._take_back(flight)
        if isinstance(fault, Unreachable):
            raise UNREACHABLE

    def _leave_to_their_locks(self, flight: Flight) -> None:
        """Let time pass until the locks have run out."""
        for message in flight.messages:
            if message.lock is not None and message.lock.token in flight.tokens:
                self._queue.agenda.wake(message.lock.until)

    def _take_back(self, flight: Flight) -> None:
        """Service Bus takes the locks away, as if they had run out."""
        for broker_id, token in zip(flight.ids, flight.tokens, strict=True):
            try:
                self._queue.settle(token, ABANDON)
            except RefusedError:
                continue  # gone already
            self._note("lock lost", broker_id, "")
        if flight.listener.session_id is not None:
            flight.listener.leave_session()

    def _plan_renewal(self, flight: Flight) -> None:
        """Renew in time, for as long as the host does; a batch's messages are not renewed, a session is."""
        now = self._world.seconds()
        lock = flight.messages[0].lock
        if lock is None or (self._function.many and flight.listener.session_id is None):
            return
        left = lock.until - self._queue.agenda.start - now
        moment = now + left - min(left / 2, MARGIN)
        if left > 0 and moment <= flight.began + self._settings.lock_renewal:
            flight.renewal = self._world.scheduler.aside(moment, partial(self._renew, flight))

    def _renew(self, flight: Flight) -> None:
        queue, number = self._queue, flight.invocation.number if flight.invocation else 0
        fault = self._world.misfortune.at("before", "renew", queue.profile.path, tuple(flight.ids), number)
        try:
            self._under(fault, flight)
            if flight.listener.session_id is not None:
                queue.renew_session(flight.listener.session_id)
            else:
                queue.locks.renew(flight.tokens[0])
        except RefusedError as refused:
            for broker_id in flight.ids:
                self._note("call failed", broker_id, f"renew: {refused.description}")
        self._plan_renewal(flight)

    def _note(self, what: What, broker_id: str, detail: str) -> None:
        self._world.journal.note(what, self._queue.profile.path, broker_id, detail)
