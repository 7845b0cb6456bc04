"""An instance of a function app: the Functions host that serves one function, and its worker process."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from recoverable_local.service_bus.broker.holding.messages import Verdict
from recoverable_local.service_bus.broker.refusals import RefusedError
from recoverable_local.testing.azure.app import Triggered
from recoverable_local.testing.azure.broker.queues import WatchedEntity
from recoverable_local.testing.azure.host.function import run
from recoverable_local.testing.azure.host.listener import HostSettings, Listener, Locked
from recoverable_local.testing.azure.host.settling import ABANDON, COMPLETE, Settling
from recoverable_local.testing.azure.host.worker import Flight, Worker
from recoverable_local.testing.azure.sdk.sending import Client
from recoverable_local.testing.engine.invocation import LOST, TIMED_OUT, Invocation
from recoverable_local.testing.engine.surroundings import Surroundings

MARGIN = 10.0
"""Seconds before its end at which a lock is renewed, or half of what is left (azure-sdk-for-net, `ReceiverManager.CalculateRenewDelay`)."""

UNHEARD = "exited with 0"
"""How a process ends that the host does not miss before a time-out (azure-functions-host, `WorkerProcess.OnProcessExited`)."""


class Host:
    """One instance.

    Args:
        function: what it serves.
        queue: where messages come from.
        settings: its host.json.
        world: all around.
        new_client: makes what the endpoints of a process get instead of the SDK's client.
    """

    def __init__(
        self,
        function: Triggered,
        queue: WatchedEntity,
        settings: HostSettings,
        world: Surroundings,
        new_client: Callable[[], Client],
    ) -> None:
        self._function, self._queue, self._settings, self._world = function, queue, settings, world
        self._new_client = new_client
        self._settling = Settling(queue, world)
        self._held: list[Flight] = []
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
        return Worker(self._new_client(), self._world.seconds)

    def _run(self, batch: list[Locked], listener: Listener) -> None:
        """Messages, from their lock to their settlement."""
        worker, flight = self._worker, Flight(batch, listener, self._world.seconds())
        if listener.is_lost:
            self._settling.leave_to_their_locks(flight)
            return
        flight.invocation = self._invocation(flight, worker)
        self._note_received(flight)
        self._plan_renewal(flight)
        if worker.missed:
            self._hold(flight)
        else:
            self._call(flight, flight.invocation, worker)

    def _call(self, flight: Flight, invocation: Invocation, worker: Worker) -> None:
        """The function's run, and what becomes of its messages."""
        worker.flights.append(flight)
        error = run(self._function, flight.batch, invocation, worker.client, self._world)
        worker.give_back(invocation.instance, flight)
        self._note_failed(flight, error)
        if not flight.held and flight.land():
            self._finish(flight, ABANDON if error else COMPLETE if self._function.completes else None)

    def _invocation(self, flight: Flight, worker: Worker) -> Invocation:
        return Invocation(
            self._world.invocations.next_number(),
            self._queue.profile.path,
            flight.ids,
            worker.slot(),
            timeout=self._settings.timeout,
            scheduler=self._world.scheduler,
            expire=partial(self._settling.take_back, flight),
            ending=partial(self._ended, worker),
        )

    def _note_received(self, flight: Flight) -> None:
        for locked, broker_id in zip(flight.batch, flight.ids, strict=True):
            told = f"delivery {locked.delivery} of number {locked.message.sequence_number}"
            self._settling.note("received", broker_id, told, flight)

    def _note_failed(self, flight: Flight, error: str) -> None:
        for broker_id in flight.ids if error else ():
            self._settling.note("invocation failed", broker_id, error, flight)

    def _ended(self, worker: Worker, how: str) -> None:
        """The worker's process has ended, and all invocations in it: the host abandons their messages, if it hears of it and is not gone itself."""
        scheduler = self._world.scheduler
        flights = worker.end(how, partial(scheduler.at, scheduler.now))
        if how == LOST:
            self._lose([*flights, *self._held])
        elif how == UNHEARD or how.startswith(TIMED_OUT):
            worker.missed = how == UNHEARD
            for flight in flights:
                self._hold(flight)
        else:
            for flight in flights:
                self._abandon(flight)
        if not worker.missed:
            self._worker = self._new_worker()

    def _lose(self, flights: list[Flight]) -> None:
        """The machine is gone; another one starts."""
        for listener in self._listeners:
            listener.lose()
        for flight in flights:
            if flight.land():
                self._settling.leave_to_their_locks(flight)
        self._world.scheduler.at(self._world.seconds(), self._start)

    def _hold(self, flight: Flight) -> None:
        """Wait for the time-out of an invocation, as of one that may still run."""
        flight.held = True
        self._held.append(flight)
        self._world.scheduler.at(flight.began + self._settings.timeout, partial(self._give_up, flight))

    def _give_up(self, flight: Flight) -> None:
        """The time-out of an invocation that is held: its process is replaced, if it was not yet."""
        self._held.remove(flight)
        if self._worker.missed:
            self._worker = self._new_worker()
        self._abandon(flight)

    def _abandon(self, flight: Flight) -> None:
        if flight.land():
            self._finish(flight, ABANDON)

    def _finish(self, flight: Flight, verdict: Verdict | None) -> None:
        flight.listener.free()
        self._settling.settle(flight, verdict)
        flight.listener.look()

    def _plan_renewal(self, flight: Flight) -> None:
        """Renew in time, for as long as the host does; a batch's messages are not renewed, a session is."""
        now = self._world.seconds()
        lock = flight.batch[0].message.lock
        if lock is None or (self._function.many and flight.listener.session_id is None):
            return
        left = lock.until - self._queue.agenda.start - now
        moment = now + left - min(left / 2, MARGIN)
        if left > 0 and moment <= flight.began + self._settings.lock_renewal:
            flight.renewal = self._world.scheduler.aside(moment, partial(self._renew, flight))

    def _renew(self, flight: Flight) -> None:
        queue, ids = self._queue, tuple(flight.ids)
        fault = self._world.misfortune.at("before", "renew", queue.profile.path, ids, flight.number)
        try:
            self._settling.under(fault, flight)
            if flight.listener.session_id is not None:
                queue.renew_session(flight.listener.session_id)
            else:
                queue.locks.renew(flight.batch[0].token)
        except RefusedError as refused:
            for broker_id in flight.ids:
                self._settling.note("call failed", broker_id, f"renew: {refused.description}", flight)
        self._plan_renewal(flight)
