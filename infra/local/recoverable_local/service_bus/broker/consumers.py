"""Define the interface between an entity and its receivers."""

from __future__ import annotations

from typing import Protocol

from recoverable_local.service_bus.broker.holding.messages import Message
from recoverable_local.service_bus.broker.refusals import RefusedError


class Consumer(Protocol):
    """A receiver of an entity."""

    @property
    def settled(self) -> bool:
        """True if messages are removed on delivery (receive and delete), not locked."""

    @property
    def session_id(self) -> str | None:
        """Return the session that it has accepted, if any."""

    def ready(self) -> bool:
        """True if it can take a message now."""

    def deliver(self, message: Message) -> None:
        """Deliver a message to it."""

    def session_accepted(self, session_id: str, until: float) -> None:
        """Notify it that it holds a session, until a time in seconds since 1970."""

    def dismissed(self, reason: RefusedError) -> None:
        """Notify it that it gets no messages, or no more, with the reason."""
