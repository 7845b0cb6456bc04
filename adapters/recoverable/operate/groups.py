"""Group failed messages by what went wrong: the exception's type and the first frame of the application's own. Pure."""

from __future__ import annotations

import re
from datetime import datetime
from hashlib import sha256

from recoverable.frozen import Frozen
from recoverable.operate.failed import FailedMessage
from recoverable.recovery.faults import STACK_TRACE

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


class Group(Frozen):
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


class Tally(Frozen):
    """A group with the number of its messages, and the times of the first and the last failure."""

    group: Group
    count: int
    first: datetime | None
    last: datetime | None
    queues: frozenset[str]  # where they failed

    def with_one(self, message: FailedMessage) -> Tally:
        """Return the tally with one message more."""
        times = [time for time in (self.first, self.last, message.failed_at) if time]
        queue = message.failed_queue
        queues = self.queues | {queue} if queue and len(self.queues) < MOST_QUEUES else self.queues
        return Tally(self.group, self.count + 1, min(times, default=None), max(times, default=None), queues)


def group_of(message: FailedMessage) -> Group:
    """Return the group of a message."""
    if message.problem:
        return group(UNREADABLE, message.problem)
    if message.died:
        return group(DIED, message.reason or "")
    return group(message.exception_type or "no exception type", own_frame(message.headers.get(STACK_TRACE, "")))


def group(kind: str, frame: str) -> Group:
    """Return the group of a kind and a frame."""
    kind, frame = kind[:LONGEST_TITLE], frame[:LONGEST_TITLE]
    return Group(sha256(f"{kind}\n{frame}".encode(errors="replace")).hexdigest()[:8], kind, frame)


def own_frame(trace: str) -> str:
    """Return the first call of the trace that is the application's own, else the first one; empty without any."""
    first = ""
    for found in FRAME.finditer(trace):
        call = found["call"].strip()
        if found["file"] and not LIBRARIES.search(found["file"].replace("\\", "/")):
            return call
        first = first or call
    return first


def tally(tallies: dict[str, Tally], message: FailedMessage) -> Group:
    """Count the message in its group, and return the group."""
    found = group_of(message)
    tallies[found.id] = tallies.get(found.id, Tally(found, 0, None, None, frozenset())).with_one(message)
    return found
