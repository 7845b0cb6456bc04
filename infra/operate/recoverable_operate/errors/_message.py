"""Describe a message of an error queue in our words, whichever broker it came from, and group messages by what went wrong. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from typing import Any
from uuid import UUID

from recoverable._ladder import faults
from recoverable._ladder.faults import STACK_TRACE
from recoverable._sqs.wire import UNREADABLE_HEADERS
from recoverable.headers import ATTEMPTS, FAILED_QUEUE_ADDRESS, FIRST_FAILED_AT, REDRIVES, read_count, read_date

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
        origin: which message its first original was, for the identity of what its handler sends.
        enqueued_at: when the broker took it.
        sent_at: when it was first sent.
        group_id: its FIFO message group, or its session.
        receives: how often the broker has handed it out.
        source: the full address of the queue that the broker itself dead-lettered it from.
        reason: the broker's own reason for that.
        state: active; or scheduled or deferred, which stay where they are.
        body_error: why the body is not here.
        problem: why the message cannot be read; None when it can.
        unsendable: why no copy can be made of it; None when one can.
        body_in_queue: the hash of the body that it has in the queue, where somebody edited it; None when it is as it lies there.
        native: the broker's own record of it.
    """

    id: str
    broker_id: str
    headers: Mapping[str, str]
    body: bytes | None
    origin: str = field(default="", kw_only=True)
    enqueued_at: datetime | None = field(default=None, kw_only=True)
    sent_at: datetime | None = field(default=None, kw_only=True)
    group_id: str | None = field(default=None, kw_only=True)
    receives: int = field(default=1, kw_only=True)
    source: str | None = field(default=None, kw_only=True)
    reason: str | None = field(default=None, kw_only=True)
    state: str = field(default=ACTIVE, kw_only=True)
    body_error: str | None = field(default=None, kw_only=True)
    problem: str | None = field(default=None, kw_only=True)
    unsendable: str | None = field(default=None, kw_only=True)
    body_in_queue: str | None = field(default=None, kw_only=True)
    native: Any = field(default=None, kw_only=True)

    @property
    def new_id(self) -> str | None:
        """Return the id that its copy gets because somebody edited its body: another message's, the same for the same edit; None otherwise."""
        if self.body_in_queue in (None, now := body_hash(self)):
            return None
        return str(UUID(bytes=sha256(in_bytes(f"{self.id}\n{now}")).digest()[:16], version=4))

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
    def handler_time(self) -> timedelta | None:
        """Return for how long the handler of the last attempt ran; None when that is not said."""
        began, failed = (read_date(self.headers, name) for name in (faults.HANDLER_START, faults.HANDLER_FAILURE))
        return failed - began if began and failed and failed >= began else None

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
    """Return the journal's key of the message: endpoint and queue, broker id, enqueued time, and the body that it has in the queue.

    A broker id alone may come again: sequence numbers of a restarted emulator do.

    Args:
        message: the message.
        queue: the full address of the error queue, its endpoint included.
    """
    enqueued = message.enqueued_at.isoformat() if message.enqueued_at else ""
    body = message.body_in_queue or body_hash(message)
    return sha256("\n".join((queue, message.broker_id, enqueued, body)).encode()).hexdigest()


def in_bytes(text: str) -> bytes:
    """Return the text in UTF-8; JSON can hold halves of characters, which UTF-8 has no bytes for, and they are kept apart."""
    return text.encode(errors="surrogatepass")


def body_hash(message: FailedMessage) -> str:
    """Return a hash of the body, by which an edit is noticed; of a body that is elsewhere, a hash of where it is."""
    return sha256(message.body if message.body is not None else in_bytes(str(message.body_error))).hexdigest()


def some(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


FRAME = re.compile(
    r"^\s*at (?P<call>[^\n(]{1,300})\(.{0,300}?\)(?: in (?P<file>.{1,500}?):line (?P<line>\d+))?\s*$", re.MULTILINE
)
"""A line of a stack trace as .NET writes it, and as our fault headers do."""

LIBRARIES = re.compile(r"/(site|dist)-packages/|/\.python_packages/|/lib(64)?/python\d|/opt/python/|[<>]")
"""Parts of the paths of code that is not the application's: installed packages, Python itself, Lambda layers."""

LONGEST_TITLE = 300

MOST_QUEUES = 10
"""Queues that a group remembers; hostile headers may name any number."""

UNREADABLE = "unreadable"
DIED = "dead-lettered by the broker"
UNEXPLAINED = "no reason recorded"


@dataclass(frozen=True, slots=True)
class Group:
    """A group of failed messages.

    Args:
        id: a short name of it, for `--group`.
        kind: the exception's type, or what is said instead.
        frame: the first frame of the application's own; empty when there is none.
    """

    id: str
    kind: str
    frame: str

    @property
    def title(self) -> str:
        """Return kind and frame in one line."""
        return f"{self.kind}: {self.frame}" if self.frame else self.kind


@dataclass(slots=True)
class Tally:
    """A group with the number of its messages.

    Args:
        group: the group.
        count: how many messages it has.
        first: the time of the first failure.
        last: the time of the last one.
        queues: where they failed.
        example: the first text of an exception, cut.
    """

    group: Group
    count: int = 0
    first: datetime | None = None
    last: datetime | None = None
    queues: set[str] = field(default_factory=set)
    example: str = ""

    def add(self, message: FailedMessage) -> None:
        """Count one message more."""
        self.count += 1
        self.example = self.example or message.headers.get(faults.EXCEPTION_MESSAGE, "")[:LONGEST_TITLE]
        if moment := message.failed_at:
            self.first = min(self.first or moment, moment)
            self.last = max(self.last or moment, moment)
        if message.failed_queue and len(self.queues) < MOST_QUEUES:
            self.queues.add(message.failed_queue)


def group_of(message: FailedMessage) -> Group:
    """Return the group of a message."""
    if message.problem:
        return group(UNREADABLE, message.problem)
    if message.died:
        return group(DIED, message.reason or "")
    if message.unexplained:
        return group(UNEXPLAINED, f"{DIED}, or sent here by something else")
    kind, frame = message.exception_type or "no exception type", own_frame(message.headers.get(STACK_TRACE, ""))
    if kind.endswith("MessageDeserializationError"):
        frame = f"{frame}, {shape(message.headers.get(faults.EXCEPTION_MESSAGE, ''))}"
    return group(kind, frame)


@lru_cache(maxsize=64)
def shape(reason: str) -> str:
    """Return the reason why messages cannot be read without what differs from one to the next: quoted texts and numbers."""
    return re.sub(r"\d+", "#", re.sub(r"'[^']*'|\"[^\"]*\"", "…", reason[:LONGEST_TITLE]))


@lru_cache(maxsize=1024)
def group(kind: str, frame: str) -> Group:
    """Return the group of a kind and a frame."""
    kind, frame = kind[:LONGEST_TITLE], frame[:LONGEST_TITLE]
    return Group(sha256(f"{kind}\n{frame}".encode(errors="replace")).hexdigest()[:8], kind, frame)


@lru_cache(maxsize=64)
def own_frame(trace: str) -> str:
    """Return the first call of the trace that is the application's own, else the first one; empty without any."""
    first = ""
    for found in FRAME.finditer(trace):
        call = found["call"].strip()
        if found["file"] and not LIBRARIES.search(found["file"].replace("\\", "/")):
            return call
        first = first or call
    return first


def tally(tallies: dict[str, Tally], message: FailedMessage) -> None:
    """Count the message in its group."""
    found = group_of(message)
    if found.id not in tallies:
        tallies[found.id] = Tally(found)
    tallies[found.id].add(message)
