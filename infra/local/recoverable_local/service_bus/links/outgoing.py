"""Send messages on a link on which the peer receives: from an entity, or the answers to its requests."""

from __future__ import annotations

import uuid
from collections import deque
from typing import TYPE_CHECKING

from recoverable_local.service_bus.amqp import encoding as e
from recoverable_local.service_bus.amqp import replies
from recoverable_local.service_bus.amqp.performatives import Attach, Flow
from recoverable_local.service_bus.broker.refusals import RefusedError
from recoverable_local.service_bus.faults import DroppedError, Faults, Operation, SilencedError

if TYPE_CHECKING:
    from recoverable_local.service_bus.broker.entity import Entity
    from recoverable_local.service_bus.broker.holding.messages import Message
    from recoverable_local.service_bus.links.session import Session

SESSION_FILTER = "com.microsoft:session-filter"

_SETTLED = 1  # the sender settle mode in which a message is removed on delivery
_TICKS_AT_1970 = 621_355_968_000_000_000  # .NET counts ticks of 100 ns from the year 1
_TICKS = 10_000_000  # per second


class OutgoingLink:
    """A link to a receiving peer.

    Args:
        session: Its session.
        attach: The peer's attach.
        node: The path of its node.
        entity: The entity whose messages it gets; None for answers to requests.
        faults: The planned faults of deliveries.
    """

    def __init__(
        self, session: Session, attach: Attach, node: str, entity: Entity | None = None, faults: Faults | None = None
    ) -> None:
        self.handle, self.node, self.request, self.used_at = attach.handle, node, attach, session.lifetimes.clock()
        self.session_id: str | None = None
        self.settled = attach.sender_settles == _SETTLED
        self.path = node if entity else ""
        self._session, self.entity = session, entity
        self._faults = faults or Faults()
        self._credit, self._count, self._attached = 0, 0, False
        self._replies: deque[bytes] = deque()  # they wait for the peer's credit

    def answer(self) -> None:
        """Confirm the attach."""
        filters, properties = [], e.NULL
        if self.session_id is not None:
            filters = [(e.symbol(SESSION_FILTER), e.string(self.session_id))]
            properties = e.mapping([(e.symbol("com.microsoft:locked-until-utc"), e.int64(self._locked_until))])
        self._reply(replies.source(self.request.source, filters), replies.target(self.request.target), properties)
        self._attached = True

    def ready(self) -> bool:
        """True if the peer can take a message."""
        return self._credit > 0 and self._session.open

    def deliver(self, message: Message) -> None:
        """Send a message of the entity, unless a fault is planned for the delivery."""
        try:
            self._faults.perform(Operation.DELIVER, self.node, lambda: None)
        except RefusedError as refused:
            self._refuse(message, refused)
        except DroppedError:
            self._credit = 0
            self._session.drop()
        except SilencedError:
            return  # a planned fault: the message is locked and not sent, and the peer keeps its credit
        else:
            token = message.lock.token if message.lock else None
            self.send(message.encode(), tag=(token or uuid.uuid4()).bytes_le, token=token)

    def send(self, payload: bytes, *, tag: bytes, token: uuid.UUID | None = None) -> None:
        """Send an encoded message. Without a lock token it is settled at once."""
        self._credit -= 1
        self._count += 1
        self._session.transfer(self, payload, tag=tag, token=token)

    def flow(self, flow: Flow) -> None:
        """Apply the credit that the peer grants, and send messages."""
        if flow.link_credit is not None:
            self._credit = max(0, flow.delivery_count + flow.link_credit - self._count)
        self.dispatch()
        if flow.drain:
            self._count += self._credit
            self._credit = 0
        if flow.drain or flow.echo:
            self._session.flow((self.handle, self._count, self._credit), drain=flow.drain)

    def reply(self, payload: bytes) -> None:
        """Send the encoded answer to a request as soon as the peer can take it."""
        self._replies.append(payload)
        self.dispatch()

    def dispatch(self) -> None:
        """Send the answers that wait, and let the entity deliver its messages."""
        while self._replies and self.ready():
            self.send(self._replies.popleft(), tag=uuid.uuid4().bytes)
        if self.entity is not None:
            self.entity.receivers.dispatch()

    def session_accepted(self, session_id: str, until: float) -> None:
        """Confirm the attach to the peer, with its session, and receive for it."""
        self.session_id = session_id
        self._locked_until = _TICKS_AT_1970 + int(until * _TICKS)
        self.answer()
        if self.entity is not None:
            self.entity.receivers.add(self)

    def dismissed(self, reason: RefusedError) -> None:
        """Refuse the attach, or detach the link, with the reason."""
        if not self._attached:
            self._reply(e.NULL, e.NULL, e.NULL)
        self._session.detach(self, reason)

    def close(self) -> None:
        """Stop receiving from the entity."""
        if self.entity is not None:
            self.entity.leave(self)

    def _refuse(self, message: Message, reason: RefusedError) -> None:
        self.dismissed(reason)
        if self.entity is not None:
            self.entity.take_back(message)

    def _reply(self, source: bytes, target: bytes, properties: bytes) -> None:
        largest = self.entity.profile.max_message_size if self.entity else 0
        self._session.say(
            replies.attach(self.request, source=source, target=target, max_message_size=largest, properties=properties)
        )
