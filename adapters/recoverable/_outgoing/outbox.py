"""Collect what one attempt sends, until it has ended."""

from __future__ import annotations

from threading import Lock
from types import MappingProxyType
from typing import Any

from recoverable._outgoing.checks import checked
from recoverable._outgoing.identity import content_of, headers_of, identity
from recoverable._outgoing.senders import InMemory, Received, Sender
from recoverable._outgoing.values import Intent, Outgoing


class Outbox:
    """What one attempt has sent so far.

    Args:
        message: the message that the handler works on.
        sender: the platform.
    """

    def __init__(self, message: Any, sender: Sender) -> None:
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


def collect(message: Any, intent: Intent, destination: str, body: object, **options: Any) -> None:
    """Add a message to what the attempt sends; see `Message.send`."""
    outgoing = checked(intent, destination, body, **options)
    outbox_of(message).add(outgoing)


def collected(message: Any) -> tuple[Outgoing, ...]:
    """Return what the attempt has sent so far; see `Message.outgoing`."""
    outbox = getattr(message, "_outbox", None)
    return tuple(outbox.collected) if isinstance(outbox, Outbox) else ()


_OPENING = Lock()


def outbox_of(message: Any) -> Outbox:
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
            message._outbox = outbox  # noqa: SLF001  # as above
            return outbox
    raise ended(message)


def ended(message: Received) -> RuntimeError:
    """Return the error for a message that is sent too late."""
    return RuntimeError(
        f"the attempt on message '{message.id}' has ended, and nothing more is sent for it; wait in the handler for the threads and tasks that send"
    )
