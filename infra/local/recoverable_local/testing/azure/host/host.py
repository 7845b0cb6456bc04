"""Run one instance of a function app: the Functions host that serves one function, and its worker process."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from recoverable._service_bus.senders import Broker
from recoverable_local.service_bus.broker.holding.messages import Verdict
from recoverable_local.service_bus.broker.refusals import RefusedError
from recoverable_local.testing.azure.app import TriggeredFunction
from recoverable_local.testing.azure.broker.queues import JournaledQueue
from recoverable_local.testing.azure.host.function import run
from recoverable_local.testing.azure.host.listener import HostSettings, Listener, Locked
from recoverable_local.testing.azure.host.settling import ABANDON, COMPLETE, Settling
from recoverable_local.testing.azure.host.worker import PendingInvocation, Worker
from recoverable_local.testing.engine.invocation import CONNECTION_CUT, MACHINE_LOST, TIMED_OUT, Invocation
from recoverable_local.testing.engine.shared_state import SharedState

MARGIN = 10.0
"""Seconds before its end at which a lock is renewed, or half of what is left (azure-sdk-for-net, `ReceiverManager.CalculateRenewDelay`)."""

UNNOTICED_EXIT = "exited with 0"
"""End of a process that the host does not notice before a time-out (azure-functions-host, `WorkerProcess.OnProcessExited`)."""


class Host:
    """One instance.

    Args:
        function: the function that it serves.
        queue: where messages come from.
        settings: its host.json.
        world: what the functions of the world share.
        new_client: makes what the endpoints of a process get instead of the SDK's client.
    """

    def __init__(
        self,
        function: TriggeredFunction,
        queue: JournaledQueue,
        settings: HostSettings,
        world: SharedState,
        new_client: Callable[[], Broker],
    ) -> None:
        self._function, self._queue, self._settings, self._world = function, queue, settings, world
        self._new_client = new_client
        self._settling = Settling(queue, world)
        self._held: list[PendingInvocation] = []
        self._start()

    def _start(self) -> None:
        """Start a new machine, with a new process."""
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
        """Handle messages, from their lock to their settlement."""
        worker, pending = self._worker, PendingInvocation(batch, listener, self._world.seconds())
        if listener.is_lost:
            self._settling.leave_to_their_locks(pending)
            return
        pending.invocation = self._invocation(pending, worker)
        self._note_received(pending)
        self._plan_renewal(pending)
        if worker.exit_unnoticed:
            self._hold(pending)
        else:
            self._call(pending, pending.invocation, worker)

    def _call(self, pending: PendingInvocation, invocation: Invocation, worker: Worker) -> None:
        """Run the function, and settle its messages."""
        worker.invocations.append(pending)
        error = run(self._function, pending.batch, invocation, worker.client, self._world, self._settings.lock_renewal)
        worker.give_back(invocation.instance, pending)
        self._note_failed(pending, error)
        if not pending.held and pending.finish_once():
            self._finish(pending, ABANDON if error else COMPLETE if self._function.completes else None)

    def _invocation(self, pending: PendingInvocation, worker: Worker) -> Invocation:
        return Invocation(
            self._world.invocations.next_number(),
            self._queue.profile.path,
            pending.ids,
            worker.slot(),
            timeout=self._settings.timeout,
            scheduler=self._world.scheduler,
            expire=partial(self._settling.take_back, pending),
            ending=partial(self._ended, worker),
        )

    def _note_received(self, pending: PendingInvocation) -> None:
        for locked, broker_id in zip(pending.batch, pending.ids, strict=True):
            detail = f"delivery {locked.delivery} of number {locked.message.sequence_number}"
            self._settling.note("received", broker_id, detail, pending)

    def _note_failed(self, pending: PendingInvocation, error: str) -> None:
        for broker_id in pending.ids if error else ():
            self._settling.note("invocation failed", broker_id, error, pending)

    def _ended(self, worker: Worker, how: str) -> None:
        """Handle the end of the worker's process, and of all its invocations: abandon their messages, if the host notices and still runs."""
        scheduler = self._world.scheduler
        invocations = worker.end(how, partial(scheduler.at, scheduler.now))
        if how in (MACHINE_LOST, CONNECTION_CUT):
            for listener in self._listeners:
                (listener.lose if how == MACHINE_LOST else listener.cut)()
            self._lose([*invocations, *self._held])
        elif how == UNNOTICED_EXIT or how.startswith(TIMED_OUT):
            worker.exit_unnoticed = how == UNNOTICED_EXIT
            for pending in invocations:
                self._hold(pending)
        else:
            for pending in invocations:
                self._abandon(pending)
        if not worker.exit_unnoticed:
            self._worker = self._new_worker()

    def _lose(self, invocations: list[PendingInvocation]) -> None:
        """Leave the messages to their locks, and start another machine."""
        for pending in invocations:
            if pending.finish_once():
                self._settling.leave_to_their_locks(pending)
        self._world.scheduler.at(self._world.seconds(), self._start)

    def _hold(self, pending: PendingInvocation) -> None:
        """Wait for the time-out of an invocation that the host believes to be running."""
        pending.held = True
        self._held.append(pending)
        self._world.scheduler.at(pending.began + self._settings.timeout, partial(self._give_up, pending))

    def _give_up(self, pending: PendingInvocation) -> None:
        """Handle the time-out of an invocation that is held: abandon it, and replace its process if that was not done yet."""
        self._held.remove(pending)
        if self._worker.exit_unnoticed:
            self._worker = self._new_worker()
        self._abandon(pending)

    def _abandon(self, pending: PendingInvocation) -> None:
        if pending.finish_once():
            self._finish(pending, ABANDON)

    def _finish(self, pending: PendingInvocation, verdict: Verdict | None) -> None:
        pending.listener.free()
        self._settling.settle(pending, verdict)
        pending.listener.look()

    def _plan_renewal(self, pending: PendingInvocation) -> None:
        """Schedule the next lock renewal, as long as the host renews; messages of a batch are not renewed, a session is."""
        now = self._world.seconds()
        lock = pending.batch[0].message.lock
        if lock is None or (self._function.many and pending.listener.session_id is None):
            return
        left = lock.until - self._queue.agenda.start - now
        moment = now + left - min(left / 2, MARGIN)
        if left > 0 and moment <= pending.began + self._settings.lock_renewal:
            pending.renewal = self._world.scheduler.at_passively(moment, partial(self._renew, pending))

    def _renew(self, pending: PendingInvocation) -> None:
        queue, ids = self._queue, tuple(pending.ids)
        fault = self._world.fault_plan.fault_at("before", "renew", queue.profile.path, ids, pending.number)
        try:
            self._settling.apply_fault(fault, pending)
            if pending.listener.session_id is not None:
                queue.renew_session(pending.listener.session_id)
            else:
                queue.locks.renew(pending.batch[0].token)
        except RefusedError as refused:
            for broker_id in pending.ids:
                self._settling.note("call failed", broker_id, f"renew: {refused.description}", pending)
        self._plan_renewal(pending)
