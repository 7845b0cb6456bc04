"""Define what collecting needs of the message that the handler works on, and of the platform."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from recoverable._outgoing.values import Outgoing


class Received(Protocol):
    """The message that the handler works on; `Message` is one."""

    @property
    def id(self) -> str:
        """Return its id."""

    @property
    def queue(self) -> str:
        """Return the queue it came from."""

    @property
    def group_id(self) -> str | None:
        """Return its FIFO message group or session."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Return its headers."""


class Sender(Protocol):
    """A platform, as far as collecting needs it.

    `source` is the receiving queue's full address.
    """

    source: str

    def origin_of(self, message: Any) -> str:
        """Return the broker's id of the first original of the message."""

    def entry_of(self, message: Any, outgoing: Outgoing, headers: dict[str, str]) -> Any:
        """Return what is sent; raise ValueError for what the platform does not take."""

    def now(self) -> datetime:
        """Return the time."""


class InMemory:
    """A platform that takes everything: for a message that no endpoint runs, as in a unit test."""

    source = ""

    def origin_of(self, message: Received) -> str:
        """Return the message's id."""
        return message.id

    def entry_of(self, _message: Received, outgoing: Outgoing, _headers: dict[str, str]) -> Outgoing:
        """Return the outgoing message itself."""
        return outgoing

    def now(self) -> datetime:
        """Return the time."""
        return datetime.now(UTC)
