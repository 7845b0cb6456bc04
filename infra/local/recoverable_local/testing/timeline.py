"""Record what happened to the messages of a world, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Literal

from recoverable._ladder.faults import text_of

What = Literal[
    "sent",
    "dropped as a duplicate",
    "received",
    "attempted",
    "call failed",
    "invocation failed",
    "shown again",
    "deleted",
    "completed",
    "abandoned",
    "lock lost",
    "forwarded",
    "dead-lettered",
    "expired",
]

STOPPED = "HandlerTimeout"
"""Beginning of how an attempt ended whose handler was stopped for lack of time."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to a message.

    Args:
        at: how long after the world's beginning.
        what: what happened.
        message_id: the message's id, which stays the same over its copies.
        broker_id: the broker's id of the copy that it happened to.
        queue: where.
        invocation: the number of the invocation that did it, from 1; 0 when none did.
        detail: the rest, for readers.
    """

    at: timedelta
    what: What
    message_id: str
    broker_id: str
    queue: str
    invocation: int
    detail: str

    def __str__(self) -> str:
        by = f"  [{self.invocation}]" if self.invocation else ""
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.at!s:>15}  {self.message_id[:8]}/{self.broker_id[:8]}  {self.queue}  {self.what}{detail}{by}"


def how_it_failed(error: BaseException) -> str:
    """Return an exception's type and text in one line; the type alone where the text cannot be read."""
    name = type.__getattribute__(type(error), "__name__")  # a metaclass may raise where its class is asked
    try:
        text = text_of(error)
    except BaseException:  # noqa: BLE001  # such as a SystemExit; the endpoint handles it
        text = None
    return ": ".join(filter(None, (name, text)))


class Timeline(tuple[Event, ...]):
    """Events in order; printed one a line."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self))


@dataclass(frozen=True, slots=True)
class Entry:
    """An event as the journal stores it; the message's id is looked up only when a timeline is made."""

    at: float
    what: What
    broker_id: str
    queue: str
    invocation: int
    detail: str


class Journal:
    """Records the events of a world.

    Args:
        clock: the world's time in seconds.
        invocation: the number of the invocation that is at work; 0 when none is.
    """

    def __init__(self, clock: Callable[[], float], invocation: Callable[[], int]) -> None:
        self._entries: list[Entry] = []
        self._clock, self._invocation = clock, invocation

    def note(self, what: What, queue: str, broker_id: str, detail: str = "", invocation: int | None = None) -> None:
        """Record that this happened now, by the invocation that is running unless another number is given."""
        number = self._invocation() if invocation is None else invocation
        self._entries.append(Entry(self._clock(), what, broker_id, queue, number, detail))

    def entries_of(self, what: What, queue: str) -> list[Entry]:
        """Return the events of one kind at a queue or topic."""
        return [entry for entry in self._entries if (entry.what, entry.queue) == (what, queue)]

    def events(self, identity: Callable[[str], str], message_id: str | None = None) -> Iterator[Event]:
        """Yield the events of one message and its copies, or of all messages.

        Args:
            identity: the message's id, given the broker's.
            message_id: either of the two ids of the message wanted.
        """
        identity = cache(identity)  # a message has many events
        wanted = None if message_id is None else identity(message_id)
        events = (
            Event(timedelta(seconds=e.at), e.what, identity(e.broker_id), e.broker_id, e.queue, e.invocation, e.detail)
            for e in self._entries
        )
        return (event for event in events if wanted in (None, event.message_id))
