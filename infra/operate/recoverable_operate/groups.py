"""Group failed messages by what went wrong: the exception's type and the first frame of the application's own. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from hashlib import sha256

from recoverable._ladder.faults import STACK_TRACE
from recoverable_operate.failed import FailedMessage

FRAME = re.compile(
    r"^\s*at (?P<call>[^\n(]{1,300})\(.{0,300}?\)(?: in (?P<file>.{1,500}?):line \d+)?\s*$", re.MULTILINE
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
    """

    group: Group
    count: int = 0
    first: datetime | None = None
    last: datetime | None = None
    queues: set[str] = field(default_factory=set)

    def add(self, message: FailedMessage) -> None:
        """Count one message more."""
        self.count += 1
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
    return group(message.exception_type or "no exception type", own_frame(message.headers.get(STACK_TRACE, "")))


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
