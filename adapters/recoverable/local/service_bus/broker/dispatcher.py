"""Delivery: who receives from an entity, and which message goes to whom."""

from __future__ import annotations

import collections

from recoverable.local.service_bus.broker.consumers import Consumer
from recoverable.local.service_bus.broker.locks import Locks
from recoverable.local.service_bus.broker.messages import Message
from recoverable.local.service_bus.broker.sessions import Sessions
from recoverable.local.service_bus.broker.shelf import Shelf


class Dispatcher:
    """Gives messages to receivers in turn.

    Args:
        shelf: The messages.
        locks: The locks on them.
        sessions: Who holds which session; None when the entity has none.
    """

    def __init__(self, shelf: Shelf, locks: Locks, sessions: Sessions | None) -> None:
        self._shelf, self._locks, self._sessions = shelf, locks, sessions
        self._consumers: collections.deque[Consumer] = collections.deque()

    def add(self, consumer: Consumer) -> None:
        """Deliver to a receiver from the next dispatch on."""
        self._consumers.append(consumer)

    def remove(self, consumer: Consumer) -> None:
        """Deliver to a receiver no more."""
        if consumer in self._consumers:
            self._consumers.remove(consumer)

    def dispatch(self) -> None:
        """Deliver what can be delivered."""
        if self._sessions is not None:
            self._sessions.serve(self._shelf.sessions)
        idle = 0
        while idle < len(self._consumers) and self._may_deliver():
            consumer = self._consumers[0]
            self._consumers.rotate(-1)
            idle = 0 if consumer.ready() and self._deliver_to(consumer) else idle + 1

    def lock(self, message: Message) -> None:
        """Lock a message, for as long as its session if there are sessions.

        Raises:
            RefusedError: Nobody holds its session.
        """
        if self._sessions is None:
            self._locks.grant(message)
        else:
            self._locks.grant_until(message, self._sessions.until(message.session_id))

    def _may_deliver(self) -> bool:
        """Whether to ask receivers at all; what each session has, only its receiver can say."""
        return self._sessions is not None or self._shelf.offers(None)

    def _deliver_to(self, consumer: Consumer) -> bool:
        message = self._shelf.take(consumer.session_id)
        if message is None:
            return False
        if consumer.settled:
            self._shelf.remove(message)
        else:
            self.lock(message)
        consumer.deliver(message)
        return True
