"""Delivery: who receives from an entity, and which message goes to whom."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from recoverable_local.service_bus.broker.consumers import Consumer
from recoverable_local.service_bus.broker.holding.locks import Locks
from recoverable_local.service_bus.broker.holding.messages import Message
from recoverable_local.service_bus.broker.holding.sessions import Sessions
from recoverable_local.service_bus.broker.holding.shelf import Shelf


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """Gives messages to receivers in turn.

    Args:
        shelf: The messages.
        locks: The locks on them.
        sessions: Who holds which session; None when the entity has none.
    """

    shelf: Shelf
    locks: Locks
    sessions: Sessions | None
    _consumers: deque[Consumer] = field(default_factory=deque, init=False)

    def add(self, consumer: Consumer) -> None:
        """Deliver to a receiver from the next dispatch on."""
        self._consumers.append(consumer)

    def remove(self, consumer: Consumer) -> None:
        """Deliver to a receiver no more."""
        if consumer in self._consumers:
            self._consumers.remove(consumer)

    def dispatch(self) -> None:
        """Deliver what can be delivered."""
        if self.sessions is not None:
            self.sessions.serve(self.shelf.sessions)
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
        if self.sessions is None:
            self.locks.grant(message)
        else:
            self.locks.grant_until(message, self.sessions.until(message.session_id))

    def _may_deliver(self) -> bool:
        """Whether to ask receivers at all; what each session has, only its receiver can say."""
        return self.sessions is not None or self.shelf.offers(None)

    def _deliver_to(self, consumer: Consumer) -> bool:
        message = self.shelf.take(consumer.session_id)
        if message is None:
            return False
        if consumer.settled:
            self.shelf.remove(message)
        else:
            self.lock(message)
        consumer.deliver(message)
        return True
