"""One AMQP session: its windows, the numbers of its deliveries, and who is to hear what became of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from recoverable_local.service_bus.amqp import replies
from recoverable_local.service_bus.amqp.performatives import Begin, Flow
from recoverable_local.service_bus.broker.consumers import Consumer

if TYPE_CHECKING:
    from recoverable_local.service_bus.broker.entity import Entity

_OVERHEAD = 64  # bytes of a frame that a transfer's header never exceeds


class Link(Protocol):
    """What a session knows of a link."""

    handle: int

    def answer(self) -> None:
        """Say that the link stands."""

    def close(self) -> None:
        """Let go of all that the link holds."""


class DeliveringLink(Link, Consumer, Protocol):
    """A link whose deliveries the peer settles."""

    entity: Entity | None


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A delivery of which the peer has not said what becomes of it."""

    link: DeliveringLink
    token: UUID


class Session:
    """A session as the connection sees it.

    Args:
        begin: What the peer began it with.
        say: Sends a performative and a payload.
        drop: Ends the connection without a word.
        frame_size: The largest frame that the peer takes, in bytes.
    """

    def __init__(self, begin: Begin, say: Callable[..., None], drop: Callable[[], object], frame_size: int) -> None:
        self.say, self.drop = say, drop
        self.links: dict[int, Link] = {}
        self.unsettled: dict[int, Unsettled] = {}
        self._room = frame_size - _OVERHEAD
        self._next_incoming, self._next_outgoing, self._next_delivery = begin.next_outgoing_id, 0, 0
        self._window = begin.incoming_window

    @property
    def open(self) -> bool:
        """Whether the peer can take a transfer."""
        return self._window > 0

    def add(self, link: Link) -> None:
        """Say that a link stands, and lead to it what is for it."""
        self.links[link.handle] = link
        link.answer()

    def received(self) -> None:
        """Count a transfer of the peer."""
        self._next_incoming += 1

    def granted(self, flow: Flow) -> None:
        """Take over what the peer can take."""
        self._window = flow.next_incoming_id + flow.incoming_window - self._next_outgoing

    def flow(self, link: tuple[int, int, int] | None = None, *, drain: bool = False) -> None:
        """Tell the peer what it may send; of a link its handle, delivery count and credit."""
        self.say(replies.flow(self._next_incoming, self._next_outgoing, link, drain=drain))

    def transfer(self, link: DeliveringLink, payload: bytes, *, tag: bytes, token: UUID | None) -> None:
        """Send a message in as many frames as it needs; without a token it is settled with that."""
        number = self._next_delivery
        self._next_delivery += 1
        if token is not None:
            self.unsettled[number] = Unsettled(link, token)
        for start in range(0, max(len(payload), 1), self._room):
            first = (number, tag, token is None) if start == 0 else None
            more = start + self._room < len(payload)
            part = payload[start : start + self._room]
            self.say(replies.transfer(link.handle, more=more, first=first), part)
            self._next_outgoing += 1
            self._window -= 1

    def forget(self, link: Link) -> None:
        """Hear no more of what a link has delivered; its locks stay, and can be settled by their tokens."""
        self.unsettled = {number: each for number, each in self.unsettled.items() if each.link is not link}

    def end(self) -> None:
        """Let go of all that its links hold."""
        for link in list(self.links.values()):
            link.close()
        self.links.clear()
