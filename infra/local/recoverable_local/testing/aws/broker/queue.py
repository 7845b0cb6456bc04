"""Keep the messages of one queue, and tell listeners about changes."""

from __future__ import annotations

from collections.abc import Callable

from recoverable_local.testing.aws.broker.order import DeliveryOrder
from recoverable_local.testing.aws.broker.queues import Settings
from recoverable_local.testing.aws.broker.stored import Stored


class Queue:
    """One queue.

    Args:
        settings: its attributes.
        order: hands its messages out.
    """

    def __init__(self, settings: Settings, order: DeliveryOrder) -> None:
        self.settings, self.order = settings, order
        self.messages: dict[str, Stored] = {}
        self.remembered: dict[str, tuple[float, Stored]] = {}
        self.changed: list[Callable[[], None]] = []

    def put(self, message: Stored) -> None:
        """Add a message."""
        self.messages[message.id] = message
        self.order.put(message)
        self.notify_listeners()

    def remove(self, message: Stored) -> None:
        """Remove a message."""
        message.gone = True
        del self.messages[message.id]
        self.order.remove(message)

    def notify_listeners(self) -> None:
        """Call those who wait for a change of the queue."""
        for listener in self.changed:
            listener()
