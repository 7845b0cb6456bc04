"""Deliver the messages of an entity to its receivers."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from recoverable_local.service_bus.broker.consumers import Consumer
from recoverable_local.service_bus.broker.holding.locks import Locks
from recoverable_local.service_bus.broker.holding.message_store import MessageStore
from recoverable_local.service_bus.broker.holding.messages import Message
from recoverable_local.service_bus.broker.holding.sessions import Sessions


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """Delivers messages to receivers in turn.

    Args:
        store: The messages.
        locks: The locks on them.
        sessions: The sessions and their holders; None if the entity has no sessions.
    """

    store: MessageStore
    locks: Locks
    sessions: Sessions | None
    _consumers: deque[Consumer] = field(default_factory=deque, init=False)

    def add(self, consumer: Consumer) -> None:
        """Add a receiver; it gets messages from the next dispatch on."""
        self._consumers.append(consumer)

    def remove(self, consumer: Consumer) -> None:
        """Remove a receiver."""
        if consumer in self._consumers:
            self._consumers.remove(consumer)

    def dispatch(self) -> None:
        """Deliver all messages that can be delivered now."""
        if self.sessions is not None:
            self.sessions.serve(self.store.sessions)
        idle = 0
        while idle < len(self._consumers) and self._may_deliver():
            consumer = self._consumers[0]
            self._consumers.rotate(-1)
            idle = 0 if consumer.ready() and self._deliver_to(consumer) else idle + 1

    def lock(self, message: Message) -> None:
        """Lock a message; in an entity with sessions, until the session's lock ends.

        Raises:
            RefusedError: Nobody holds its session.
        """
        if self.sessions is None:
            self.locks.grant(message)
        else:
            self.locks.grant_until(message, self.sessions.until(message.session_id))

    def _may_deliver(self) -> bool:
        """True if there may be a message to deliver. With sessions that depends on the receiver, so it is always True."""
        return self.sessions is not None or self.store.offers(None)

    def _deliver_to(self, consumer: Consumer) -> bool:
        message = self.store.take(consumer.session_id)
        if message is None:
            return False
        if consumer.settled:
            self.store.remove(message)
        else:
            self.lock(message)
        consumer.deliver(message)
        return True
