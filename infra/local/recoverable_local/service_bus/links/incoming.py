"""A link on which the peer sends: to an entity, or requests to one of its nodes."""

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
class Parcel:
    """A message of which parts have arrived."""

    delivery_id: int
    message_format: int
    settled: bool
    data: bytearray = field(default_factory=bytearray)


class IncomingLink:
    """A sender.

    Args:
        session: Where it is.
        attach: What the peer attached it with.
        max_message_size: The largest message that is taken, in bytes.
        take: Gets each message with its format; raises RefusedError when it is not taken.
    """

    def __init__(
        self,
        session: Session,
        attach: Attach,
        max_message_size: int,
        take: Callable[[bytes, int], Callable[[], None] | None],
    ) -> None:
        self.handle = attach.handle
        self._session, self._attach, self._largest, self._take = session, attach, max_message_size, take
        self._count, self._credit = 0, 0
        self._parcel: Parcel | None = None

    def answer(self) -> None:
        """Say that the link stands, and that the peer may send."""
        self._session.say(
            replies.attach(
                self._attach,
                source=replies.source(self._attach.source),
                target=replies.target(self._attach.target),
                max_message_size=self._largest,
            )
        )
        self._top_up()

    def transfer(self, transfer: Transfer) -> None:
        """Take in a part of a message; the last one makes it whole."""
        if self._parcel is None:
            self._parcel = Parcel(transfer.delivery_id or 0, transfer.message_format, transfer.settled)
        self._parcel.settled |= transfer.settled
        self._parcel.data += transfer.payload
        if transfer.aborted:
            self._parcel = None
        elif not transfer.more:
            parcel, self._parcel = self._parcel, None
            self._whole(parcel)

    def close(self) -> None:
        """Nothing is held."""

    def _whole(self, parcel: Parcel) -> None:
        self._count += 1
        self._credit -= 1
        self._top_up()
        try:
            state, then = self._taken(parcel)
        except SilencedError:  # what the test wants
            return
        if not parcel.settled:
            self._session.say(replies.disposition(parcel.delivery_id, state, we_received=True))
        if then is not None:
            then()

    def _taken(self, parcel: Parcel) -> tuple[bytes, Callable[[], None] | None]:
        """What becomes of a message, and what is to be done once the peer has heard it."""
        try:
            then = self._take(bytes(parcel.data), parcel.message_format)
        except RefusedError as refused:
            return replies.rejected(refused.condition, refused.description), None
        except MalformedError as malformed:
            return replies.rejected("amqp:decode-error", str(malformed)), None
        return replies.outcome(replies.ACCEPTED), then

    def _top_up(self) -> None:
        if self._credit < _CREDIT // 2:
            self._credit = _CREDIT
            self._session.flow((self.handle, self._count, self._credit))
