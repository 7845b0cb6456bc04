"""Describe a message of an error queue in our words, whichever broker it came from. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from recoverable._ladder import faults
from recoverable._sqs.wire import UNREADABLE_HEADERS
from recoverable.headers import ATTEMPTS, FAILED_QUEUE_ADDRESS, FIRST_FAILED_AT, read_count, read_date

REDRIVES = "Recoverable.Redrives"
EDIT_OF = "Recoverable.EditOf"

SHOWN = 10
"""Ids and names that are printed of each kind; a queue may have any number."""

ACTIVE, SCHEDULED, DEFERRED = "active", "scheduled", "deferred"
"""The states of a message: Service Bus lists the last two, which no receiver gets."""


@dataclass(frozen=True, slots=True)
class FailedMessage:
    """A message of an error queue.

    Args:
        id: the message's id, as its handler knows it.
        broker_id: the broker's own id of it: SQS's message id, Service Bus's sequence number.
        headers: the headers, and the sender's own text attributes.
        body: the body as its handler gets it; None when it is not with the message.
        enqueued_at: when the broker took it.
        sent_at: when it was first sent.
        group_id: its FIFO message group, or its session.
        receives: how often the broker has handed it out.
        source: the full address of the queue that the broker itself dead-lettered it from.
        reason: the broker's own reason for that.
        state: active; or scheduled or deferred, which stay where they are.
        body_error: why the body is not here.
        problem: why the message cannot be read; None when it can.
        new_id: the id that its copy gets, because somebody edited its body; None when it keeps its own.
        native: the broker's own record of it.
    """

    id: str
    broker_id: str
    headers: Mapping[str, str]
    body: bytes | None
    enqueued_at: datetime | None = field(default=None, kw_only=True)
    sent_at: datetime | None = field(default=None, kw_only=True)
    group_id: str | None = field(default=None, kw_only=True)
    receives: int = field(default=1, kw_only=True)
    source: str | None = field(default=None, kw_only=True)
    reason: str | None = field(default=None, kw_only=True)
    state: str = field(default=ACTIVE, kw_only=True)
    body_error: str | None = field(default=None, kw_only=True)
    problem: str | None = field(default=None, kw_only=True)
    new_id: str | None = field(default=None, kw_only=True)
    native: Any = field(default=None, kw_only=True)

    @property
    def unexplained(self) -> bool:
        """True if it has no fault headers: no code of ours sent it here, or there was no room for them."""
        return faults.FAILED_QUEUE not in self.headers and faults.EXCEPTION_TYPE not in self.headers

    @property
    def died(self) -> bool:
        """True if the broker moved it here and says so; no code of ours saw its last delivery."""
        return self.unexplained and (self.source is not None or self.reason is not None)

    @property
    def exception_type(self) -> str | None:
        """Return the full name of the exception's type."""
        return self.headers.get(faults.EXCEPTION_TYPE)

    @property
    def failed_queue(self) -> str | None:
        """Return the queue where it failed: by its address, else by its name, else as the broker says."""
        return self.headers.get(FAILED_QUEUE_ADDRESS) or self.headers.get(faults.FAILED_QUEUE) or self.source

    @property
    def failed_at(self) -> datetime | None:
        """Return when it failed for the last time; when the broker moved it here, the time when it came."""
        return read_date(self.headers, faults.TIME_OF_FAILURE) or self.enqueued_at

    @property
    def attempts(self) -> int | None:
        """Return the attempts that were made on it; None when that is not said."""
        return read_count(self.headers, ATTEMPTS) or None

    @property
    def redrives(self) -> int:
        """Return how often it was sent back."""
        return read_count(self.headers, REDRIVES)


def problem_of(headers: Mapping[str, str]) -> str | None:
    """Return why the headers cannot be read; None when they can."""
    if UNREADABLE_HEADERS in headers:
        return "its headers are no JSON object"
    for name in (faults.TIME_OF_FAILURE, FIRST_FAILED_AT):
        if name in headers and read_date(headers, name) is None:
            return f"{name} is no date"
    return None


def key_of(message: FailedMessage, queue: str) -> str:
    """Return what the journal knows the message by: endpoint and queue, broker id, enqueued time and body.

    A broker id alone may come again: sequence numbers of a restarted emulator do.

    Args:
        message: the message.
        queue: the full address of the error queue, its endpoint included.
    """
    enqueued = message.enqueued_at.isoformat() if message.enqueued_at else ""
    body = sha256(message.body if message.body is not None else in_bytes(str(message.body_error))).hexdigest()
    return sha256("\n".join((queue, message.broker_id, enqueued, body)).encode()).hexdigest()


def in_bytes(text: str) -> bytes:
    """Return the text in UTF-8; JSON can hold halves of characters, which UTF-8 has no bytes for, and they are kept apart."""
    return text.encode(errors="surrogatepass")


def digest(body: bytes | None) -> str:
    """Return a hash of the body, by which an edit is noticed."""
    return sha256(body or b"").hexdigest()


def id_of_edit(message: FailedMessage, body: bytes) -> str:
    """Return the id of an edited message: another message's, and the same one for the same edit."""
    return str(UUID(bytes=sha256(in_bytes(f"{message.id}\n{digest(body)}")).digest()[:16], version=4))


def some(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
