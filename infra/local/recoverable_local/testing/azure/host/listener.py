"""Listen to a queue as the Functions host does: take its messages, or one session after the other, and have them handled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import NamedTuple
from uuid import UUID

from recoverable_local.service_bus.broker.entity import Entity
from recoverable_local.service_bus.broker.holding.messages import Message
from recoverable_local.service_bus.broker.refusals import RefusedError
from recoverable_local.testing.engine.scheduler import Scheduler


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSettings:
    """The settings of `host.json`; times in seconds.

    Args:
        concurrency: the most messages that one instance handles at a time; of sessions, the most sessions.
        batch_size: the most messages of a batch.
        timeout: when an invocation is stopped, with its process.
        lock_renewal: for how long the locks of single messages and of sessions are renewed.
    """

    concurrency: int
    batch_size: int
    timeout: float
    lock_renewal: float


class Locked(NamedTuple):
    """A received message: its lock, its delivery number, and its bytes as they came over the wire."""

    message: Message
    token: UUID
    delivery: int
    wire: bytes


Run = Callable[[list[Locked], "Listener"], None]
"""Has messages handled, from their lock to their settlement."""


class Listener:
    """Receives from a queue.

    Args:
        queue: the queue.
        scheduler: the world's time.
        run: has messages handled.
        concurrency: how many invocations it may have at a time.
        batch_size: how many messages an invocation gets at most.
    """

    settled = False  # messages are locked, not gone with their delivery

    def __init__(self, queue: Entity, scheduler: Scheduler, run: Run, *, concurrency: int, batch_size: int) -> None:
        self.session_id: str | None = None
        self._queue, self._scheduler, self._run = queue, scheduler, run
        self._concurrency, self._batch_size = concurrency, batch_size
        self._busy = 0
        self._gathering: list[Locked] | None = None
        self._waits = self.is_lost = False

    def listen(self) -> None:
        """Start to take messages."""
        if not self._queue.profile.sessions:
            self._queue.receivers.add(self)
        self.look()

    def lose(self) -> None:
        """Stop with the machine: take nothing more, and hand nothing back."""
        self.is_lost = True
        if self.session_id is None:
            self._queue.leave(self)

    def cut(self) -> None:
        """Stop as the broker sees it when the connection ends: hand the session back, if there is one."""
        self.is_lost = True
        self._queue.leave(self)

    def ready(self) -> bool:
        """True if it can take a message now."""
        return not self.is_lost and (self._gathering is not None or self._busy < self._concurrency)

    def deliver(self, message: Message) -> None:
        """Take a message; messages of the same moment make a batch."""
        if self._gathering is None:
            self._busy += 1
            self._gathering = []
            self._scheduler.at(self._scheduler.now, partial(self._begin, self._gathering))
        assert message.lock is not None
        locked = Locked(message, message.lock.token, message.delivery_count + 1, message.encode())
        self._gathering.append(locked)
        if len(self._gathering) == self._batch_size:
            self._gathering = None

    def free(self) -> None:
        """Make room for another invocation."""
        self._busy -= 1

    def look(self) -> None:
        """Look for messages; leave a session that has none."""
        if self.is_lost:
            return
        if self._queue.profile.sessions and not self._busy:
            self._look_for_session()
        self._queue.receivers.dispatch()

    def session_accepted(self, session_id: str, until: float) -> None:  # noqa: ARG002  # the host renews in time
        """Take the messages of a session."""
        self.session_id, self._waits = session_id, False
        self._queue.receivers.add(self)

    def dismissed(self, reason: RefusedError) -> None:  # noqa: ARG002  # there is one reason only
        """Leave the lost session, and take another when nothing of this one is being handled."""
        self.leave_session()
        self.look()

    def step_aside(self) -> None:
        """Stop taking messages of a session that is about to be lost."""
        self._queue.receivers.remove(self)

    def leave_session(self) -> None:
        """Hand the session back."""
        self._queue.leave(self)
        self.session_id = None

    def _look_for_session(self) -> None:
        if self.session_id is not None and self.session_id not in self._queue.store.sessions():
            self.leave_session()
        if self.session_id is None and not self._waits:
            self._waits = True
            self._queue.sessions.wait(self, inf)

    def _begin(self, batch: list[Locked]) -> None:
        if self._gathering is batch:
            self._gathering = None
        self._run(batch, self)
