"""What an entity needs to know of those who receive from it."""

from __future__ import annotations

from typing import Protocol

from recoverable_local.service_bus.broker.holding.messages import Message
from recoverable_local.service_bus.broker.refusals import RefusedError


class Consumer(Protocol):
    """A receiver, as far as the broker is concerned."""

    @property
    def settled(self) -> bool:
        """Whether messages are gone with their delivery, instead of being locked."""

    @property
    def session_id(self) -> str | None:
        """The session that it has accepted."""

    def ready(self) -> bool:
        """Whether it can take a message now."""

    def deliver(self, message: Message) -> None:
        """Take a message."""

    def session_accepted(self, session_id: str, until: float) -> None:
        """Hear that it holds a session, up to a time in seconds since 1970."""

    def dismissed(self, reason: RefusedError) -> None:
        """Hear that it gets nothing, or nothing any more."""
