"""Receive messages on a link on which the peer sends: to an entity, or requests to `$cbs` or `$management`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recoverable_local.service_bus.amqp import replies
from recoverable_local.service_bus.amqp.performatives import Attach, Transfer
from recoverable_local.service_bus.amqp.types import MalformedError
from recoverable_local.service_bus.broker.refusals import RefusedError
from recoverable_local.service_bus.faults import SilencedError

if TYPE_CHECKING:
    from recoverable_local.service_bus.links.session import Session

_CREDIT = 1000  # deliveries; granted again when half of them are used


@dataclass(slots=True)
class PartialMessage:
    """A message of which only some parts have arrived."""

    delivery_id: int
    message_format: int
    settled: bool
    data: bytearray = field(default_factory=bytearray)


class IncomingLink:
    """A link from a sending peer.

    Args:
        session: Its session.
        attach: The peer's attach.
        path: That of the entity; empty for requests.
        max_message_size: The largest message that is accepted, in bytes.
        take: Called with each message and its format; raises RefusedError for a message that it does not accept. Returns what to do
            after the answer, if anything.
    """

    def __init__(
        self,
        session: Session,
        attach: Attach,
        path: str,
        max_message_size: int,
        take: Callable[[bytes, int], Callable[[], None] | None],
    ) -> None:
        self.handle, self.request, self.path, self.used_at = attach.handle, attach, path, session.lifetimes.clock()
        self._session, self._largest, self._take = session, max_message_size, take
        self._count, self._credit = 0, 0
        self._partial: PartialMessage | None = None

    def answer(self) -> None:
        """Confirm the attach, and grant credit."""
        self._session.say(
            replies.attach(
                self.request,
                source=replies.source(self.request.source),
                target=replies.target(self.request.target),
                max_message_size=self._largest,
            )
        )
        self._top_up()

    def transfer(self, transfer: Transfer) -> None:
        """Take in a part of a message; the last part completes it."""
        self._session.used(self)
        if self._partial is None:
            self._partial = PartialMessage(transfer.delivery_id or 0, transfer.message_format, transfer.settled)
        self._partial.settled |= transfer.settled
        self._partial.data += transfer.payload
        if transfer.aborted:
            self._partial = None
        elif not transfer.more:
            partial, self._partial = self._partial, None
            self._whole(partial)

    def dismissed(self, reason: RefusedError) -> None:
        """Detach the link, with the reason."""
        self._session.detach(self, reason)

    def close(self) -> None:
        """Do nothing: the link holds nothing."""

    def _whole(self, partial: PartialMessage) -> None:
        self._count += 1
        self._credit -= 1
        self._top_up()
        try:
            state, then = self._taken(partial)
        except SilencedError:  # a planned fault: send no answer
            return
        if not partial.settled:
            self._session.say(replies.disposition(partial.delivery_id, state, we_received=True))
        if then is not None:
            then()

    def _taken(self, partial: PartialMessage) -> tuple[bytes, Callable[[], None] | None]:
        """Take in a message. Return its outcome, and what to do after the peer was sent the outcome."""
        try:
            then = self._take(bytes(partial.data), partial.message_format)
        except RefusedError as refused:
            return replies.rejected(refused.condition, refused.description), None
        except MalformedError as malformed:
            return replies.rejected("amqp:decode-error", str(malformed)), None
        return replies.outcome(replies.ACCEPTED), then

    def _top_up(self) -> None:
        if self._credit < _CREDIT // 2:
            self._credit = _CREDIT
            self._session.flow((self.handle, self._count, self._credit))
