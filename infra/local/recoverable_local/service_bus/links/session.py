"""Keep the state of one AMQP session: its links, windows, delivery numbers and unsettled deliveries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from recoverable_local.service_bus.amqp import replies
from recoverable_local.service_bus.amqp.performatives import Attach, Begin, Flow
from recoverable_local.service_bus.broker.consumers import Consumer
from recoverable_local.service_bus.broker.refusals import RefusedError
from recoverable_local.service_bus.links.lifetimes import Lifetimes

if TYPE_CHECKING:
    from recoverable_local.service_bus.broker.entity import Entity

_OVERHEAD = 64  # bytes; the most that the headers of a transfer frame take


class Link(Protocol):
    """A link of a session.

    `request` is the peer's attach, `path` that of the entity, if it is a link to one, and `used_at` when it was last used, in
    seconds since 1970.
    """

    handle: int
    request: Attach
    path: str
    used_at: float

    def answer(self) -> None:
        """Confirm the attach."""

    def dismissed(self, reason: RefusedError) -> None:
        """Detach the link, with the reason."""

    def close(self) -> None:
        """Release all that the link holds."""


class DeliveringLink(Link, Consumer, Protocol):
    """A link whose deliveries the peer settles."""

    entity: Entity | None


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A delivery that the peer has not settled yet."""

    link: DeliveringLink
    token: UUID


class Session:
    """An AMQP session.

    Args:
        begin: The peer's begin.
        say: Sends a performative and a payload.
        drop: Aborts the connection without a close frame.
        frame_size: The largest frame that the peer accepts, in bytes.
        lifetimes: The lifetimes of the connection and its links.
    """

    def __init__(
        self, begin: Begin, say: Callable[..., None], drop: Callable[[], object], frame_size: int, lifetimes: Lifetimes
    ) -> None:
        self.say, self.drop, self.lifetimes = say, drop, lifetimes
        self.links: dict[int, Link] = {}
        self.unsettled: dict[int, Unsettled] = {}
        self._room = frame_size - _OVERHEAD
        self._next_incoming, self._next_outgoing, self._next_delivery = begin.next_outgoing_id, 0, 0
        self._window = begin.incoming_window

    @property
    def open(self) -> bool:
        """True if the peer's window allows a transfer."""
        return self._window > 0

    def add(self, link: Link) -> None:
        """Add a link, and confirm its attach."""
        self.links[link.handle] = link
        link.answer()

    def used(self, link: Link) -> None:
        """Note that a link is used now."""
        link.used_at = self.lifetimes.clock()

    def detach(self, link: Link, reason: RefusedError) -> None:
        """Detach a link, and tell the peer the reason."""
        self.say(replies.detach(link.handle, closed=True, problem=replies.error(reason.condition, reason.description)))
        self.links.pop(link.handle, None)
        self.forget(link)
        link.close()

    def received(self) -> None:
        """Count a received transfer."""
        self._next_incoming += 1

    def granted(self, flow: Flow) -> None:
        """Apply the window of the peer's flow."""
        self._window = flow.next_incoming_id + flow.incoming_window - self._next_outgoing

    def flow(self, link: tuple[int, int, int] | None = None, *, drain: bool = False) -> None:
        """Send the session's flow or, with its handle, delivery count and credit, a link's."""
        self.say(replies.flow(self._next_incoming, self._next_outgoing, link, drain=drain))

    def transfer(self, link: DeliveringLink, payload: bytes, *, tag: bytes, token: UUID | None) -> None:
        """Send a message in as many frames as it needs. Without a lock token it is settled at once."""
        self.used(link)
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
        """Drop the unsettled deliveries of a link. Their locks stay, and can be settled by token through `$management`."""
        self.unsettled = {number: each for number, each in self.unsettled.items() if each.link is not link}

    def end(self) -> None:
        """Close all links."""
        for link in list(self.links.values()):
            link.close()
        self.links.clear()
