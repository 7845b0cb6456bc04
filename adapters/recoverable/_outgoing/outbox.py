"""Collect what one attempt sends, until it has ended; a platform names the origin of each message and makes its entry."""

from __future__ import annotations

from datetime import UTC, datetime
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from recoverable._outgoing.identity import REPLY_TO_ADDRESS, content_of, headers_of, identity
from recoverable._outgoing.message import Intent, Outgoing, checked

if TYPE_CHECKING:
    from recoverable._message import Message


class Sender(Protocol):
    """A platform, as far as collecting needs it; `source` is the receiving queue's full address."""

    source: str

    def origin_of(self, message: Message) -> str:
        """Return the broker's id of the first original of the message."""

    def entry_of(self, message: Message, outgoing: Outgoing, headers: dict[str, str]) -> Any:
        """Return what is sent; raise ValueError for what the platform does not take."""

    def now(self) -> datetime:
        """Return the time."""


class InMemory:
    """A platform that takes everything: for a message that no endpoint runs, as in a unit test."""

    source = ""

    def origin_of(self, message: Message) -> str:
        """Return the message's id."""
        return message.id

    def entry_of(self, _message: Message, outgoing: Outgoing, _headers: dict[str, str]) -> Outgoing:
        """Return the outgoing message itself."""
        return outgoing

    def now(self) -> datetime:
        """Return the time."""
        return datetime.now(UTC)


class Outbox:
    """A collection of what one attempt has sent so far.

    Args:
        message: the message that the handler works on.
        sender: the platform.
    """

    def __init__(self, message: Message, sender: Sender) -> None:
        self._message, self._sender = message, sender
        self._lock, self._ended = Lock(), False
        self._equal: dict[str, int] = {}
        self.collected: list[Outgoing] = []
        self.entries: list[Any] = []

    def add(self, outgoing: Outgoing) -> None:
        """Add one message, with its identity and headers.

        Raises:
            RuntimeError: the attempt has ended.
            ValueError: the platform does not take such a message.
        """
        with self._lock:
            if self._ended:
                raise ended(self._message)
            content = content_of(outgoing)
            number = self._equal.get(content, 0)
            named = outgoing
            if outgoing.message_id is None:
                origin = self._sender.origin_of(self._message)
                named = outgoing.__replace__(message_id=identity(self._sender.source, origin, content, number))
            headers = headers_of(self._message, named, self._sender.now())
            entry = self._sender.entry_of(self._message, named, headers)
            self._equal[content] = number + 1
            self.collected.append(named.__replace__(headers=MappingProxyType(headers)))
            self.entries.append(entry)

    def close(self) -> list[Any]:
        """Return the entries to send; from now on nothing is added."""
        with self._lock:
            self._ended = True
            return self.entries


def collect(message: Message, intent: Intent, destination: str, body: object, **options: Any) -> None:
    """Add a message to what the attempt sends; see `Message.send`."""
    outbox_of(message).add(checked(intent, destination, body, **options))


def reply_address(message: Message) -> str:
    """Return the queue to which the sender of the message wants the reply.

    Raises:
        ValueError: it named none, or one that is elsewhere: NServiceBus writes the name of a queue, and `queue@machine` on other transports.
    """
    address = message.headers.get(REPLY_TO_ADDRESS)
    if not address:
        raise ValueError(f"Message.reply: the message has no {REPLY_TO_ADDRESS}; write Message.send(queue, ...)")
    if "@" in address or ":" in address:
        raise ValueError(
            f"Message.reply: {REPLY_TO_ADDRESS} is {address!r}, which is no name of a queue in the same account and region, or namespace; "
            "write Message.send(queue, ...)"
        )
    return address


def collected(message: Message) -> tuple[Outgoing, ...]:
    """Return what the attempt has sent so far; see `Message.outgoing`."""
    outbox = getattr(message, "_outbox", None)
    return tuple(outbox.collected) if isinstance(outbox, Outbox) else ()


_OPENING = Lock()
"""Held while an outbox takes its place in its message."""


def outbox_of(message: Message) -> Outbox:
    """Return the outbox of the attempt that works on the message; the first call opens it.

    Raises:
        RuntimeError: the attempt has ended.
    """
    opener = getattr(message, "_outbox", None)
    if isinstance(opener, Outbox):
        return opener
    if opener is False:
        raise ended(message)
    sender: Sender = InMemory() if opener is None else opener.sender()
    with _OPENING:  # other threads of the handler
        current = getattr(message, "_outbox", None)
        if isinstance(current, Outbox):
            return current
        outbox = Outbox(message, sender)
        # no call and no jump back between the look and the assignment, so that no thread ends the attempt between them
        if opener is None or message._outbox is opener:  # noqa: SLF001  # the slot is for this module
            message._outbox = outbox  # noqa: SLF001  # the slot is for this module
            return outbox
    raise ended(message)


def ended(message: Message) -> RuntimeError:
    """Return the error for a message that is sent too late."""
    return RuntimeError(
        f"the attempt on message '{message.id}' has ended, and nothing more is sent for it; wait in the handler for the threads and tasks that send"
    )
