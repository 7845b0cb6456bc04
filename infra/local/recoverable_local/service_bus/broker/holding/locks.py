"""Grant, renew, release and expire the locks on messages."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from recoverable_local.service_bus.broker.agenda import Agenda, Clock
from recoverable_local.service_bus.broker.holding.messages import Lock, Message
from recoverable_local.service_bus.broker.refusals import message_lock_lost


@dataclass(frozen=True, slots=True)
class Locks:
    """The locked messages of one entity, by their tokens.

    Args:
        duration: How long a lock lasts, in seconds.
        clock: Returns the time, in seconds since 1970.
        agenda: Runs the expiry of each lock.
        on_expiry: Called with each message whose lock has expired.
    """

    duration: float
    clock: Clock
    agenda: Agenda
    on_expiry: Callable[[Message], None]
    _locked: dict[uuid.UUID, Message] = field(default_factory=dict, init=False)

    def grant(self, message: Message) -> None:
        """Lock a message for the lock duration."""
        self.grant_until(message, self.clock() + self.duration)
        self._watch(message)

    def grant_until(self, message: Message, until: float) -> None:
        """Lock a message until a time, in seconds since 1970: the end of its session's lock."""
        message.lock = Lock(uuid.uuid4(), until)
        self._locked[message.lock.token] = message

    def renew(self, token: uuid.UUID) -> float:
        """Renew a lock, and return its new end.

        Raises:
            RefusedError: The lock has ended, or was never given.
        """
        message = self.find(token)
        message.lock = Lock(token, self.clock() + self.duration)
        return message.lock.until

    def find(self, token: uuid.UUID) -> Message:
        """Return the message of a lock.

        Raises:
            RefusedError: The lock has ended, or was never given.
        """
        if token not in self._locked:
            raise message_lock_lost()
        return self._locked[token]

    def release(self, token: uuid.UUID) -> Message:
        """End a lock, and return its message.

        Raises:
            RefusedError: The lock has ended, or was never given.
        """
        message = self.find(token)
        del self._locked[token]
        message.lock = None
        return message

    def extend_session(self, session_id: str, until: float) -> None:
        """Extend the locks of a session's messages to the end of the session's lock."""
        for token, message in self._locked.items():
            if message.session_id == session_id:
                message.lock = Lock(token, until)

    def release_session(self, session_id: str) -> list[Message]:
        """End all locks of a session, and return the messages."""
        tokens = [token for token, message in self._locked.items() if message.session_id == session_id]
        return [self.release(token) for token in tokens]

    def _watch(self, message: Message) -> None:
        if message.lock is not None:
            lock = message.lock
            self.agenda.at(lock.until, lambda: self._due(lock.token))

    def _due(self, token: uuid.UUID) -> None:
        message = self._locked.get(token)
        if message is None or message.lock is None:
            return
        if message.lock.until > self.clock():  # renewed
            self._watch(message)
            return
        self.on_expiry(self.release(token))
