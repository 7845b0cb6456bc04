"""Assign sessions to receivers, let receivers wait for one, and keep the state of each session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from recoverable_local.service_bus.broker.agenda import Agenda, Clock
from recoverable_local.service_bus.broker.consumers import Consumer
from recoverable_local.service_bus.broker.refusals import no_session_in_time, session_lock_lost, session_taken


@dataclass(slots=True)
class HeldSession:
    """The holder of a session and the end of its lock, in seconds since 1970."""

    consumer: Consumer
    until: float


@dataclass(frozen=True, slots=True)
class Sessions:
    """The sessions of one entity.

    Args:
        lock: How long a session is held without renewal, in seconds.
        clock: Returns the time, in seconds since 1970.
        agenda: Runs the expiry of locks and the time-outs of waiting receivers.
        on_expiry: Called with each session whose lock has expired, before its holder is notified.
    """

    lock: float
    clock: Clock
    agenda: Agenda
    on_expiry: Callable[[str], None]
    states: dict[str, tuple[bytes, float]] = field(default_factory=dict, init=False)
    _held: dict[str, HeldSession] = field(default_factory=dict, init=False)
    _waiting: list[Consumer] = field(default_factory=list, init=False)

    def accept(self, consumer: Consumer, session_id: str) -> None:
        """Give a session to a receiver.

        Raises:
            RefusedError: Another one holds it.
        """
        if session_id in self._held:
            raise session_taken(session_id)
        until = self.clock() + self.lock
        self._held[session_id] = HeldSession(consumer, until)
        self.agenda.at(until, lambda: self._due(session_id))
        consumer.session_accepted(session_id, until)

    def wait(self, consumer: Consumer, timeout: float) -> None:
        """Let a receiver wait for any session, for at most this many seconds."""
        self._waiting.append(consumer)
        self.agenda.at(self.clock() + timeout, lambda: self._give_up(consumer))

    def serve(self, with_messages: Callable[[], list[str]]) -> None:
        """Give free sessions with messages to waiting receivers."""
        if not self._waiting:
            return
        free = [each for each in with_messages() if each not in self._held]
        for session_id in free[: len(self._waiting)]:
            self.accept(self._waiting.pop(0), session_id)

    def until(self, session_id: str | None) -> float:
        """Return the end of a session's lock, in seconds since 1970.

        Raises:
            RefusedError: Nobody holds the session.
        """
        if session_id is None or session_id not in self._held:
            raise session_lock_lost(str(session_id))
        return self._held[session_id].until

    def held_by(self, consumer: Consumer, session_id: str) -> bool:
        """True if this receiver holds the session."""
        held = self._held.get(session_id)
        return held is not None and held.consumer is consumer

    def renew(self, session_id: str) -> float:
        """Renew a session's lock, and return its new end.

        Raises:
            RefusedError: Nobody holds the session.
        """
        self.until(session_id)
        self._held[session_id].until = self.clock() + self.lock
        return self._held[session_id].until

    def leave(self, consumer: Consumer) -> str | None:
        """Remove a receiver, and return the session that it held, if any."""
        if consumer in self._waiting:
            self._waiting.remove(consumer)
        mine = [session_id for session_id, held in self._held.items() if held.consumer is consumer]
        for session_id in mine:
            del self._held[session_id]
        return mine[0] if mine else None

    def set_state(self, session_id: str, state: bytes | None) -> None:
        """Set the state of a session; None deletes it.

        Raises:
            RefusedError: Nobody holds the session.
        """
        self.until(session_id)
        self.states.pop(session_id, None)
        if state is not None:
            self.states[session_id] = (state, self.clock())

    def _due(self, session_id: str) -> None:
        held = self._held.get(session_id)
        if held is None:
            return
        if held.until > self.clock():  # renewed
            self.agenda.at(held.until, lambda: self._due(session_id))
            return
        del self._held[session_id]
        self.on_expiry(session_id)
        held.consumer.dismissed(session_lock_lost(session_id))

    def _give_up(self, consumer: Consumer) -> None:
        if consumer in self._waiting:
            self._waiting.remove(consumer)
            consumer.dismissed(no_session_in_time())
