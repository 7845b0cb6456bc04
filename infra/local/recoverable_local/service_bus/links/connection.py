"""Handle one connection: read bytes, write bytes, and route each frame to its session and link."""

from __future__ import annotations

from collections.abc import Callable

from recoverable_local.service_bus.amqp import replies
from recoverable_local.service_bus.amqp.decoding import decode
from recoverable_local.service_bus.amqp.frames import (
    AMQP_FRAME,
    KEEP_ALIVE,
    MAX_FRAME_SIZE,
    SASL_FRAME,
    Frame,
    FrameReader,
    Header,
    frame,
)
from recoverable_local.service_bus.amqp.performatives import (
    Attach,
    Begin,
    Close,
    Detach,
    Disposition,
    End,
    Flow,
    Open,
    Performative,
    Transfer,
    parse_performative,
)
from recoverable_local.service_bus.broker.namespace import Namespace
from recoverable_local.service_bus.broker.refusals import RefusedError
from recoverable_local.service_bus.faults import Faults
from recoverable_local.service_bus.links.attaching import attach
from recoverable_local.service_bus.links.incoming import IncomingLink
from recoverable_local.service_bus.links.lifetimes import Lifetimes
from recoverable_local.service_bus.links.outgoing import OutgoingLink
from recoverable_local.service_bus.links.session import Link, Session
from recoverable_local.service_bus.links.settling import settle

_SASL_INIT = 0x41


class Connection:
    """The state machine of one peer.

    Args:
        namespace: The namespace that it uses.
        faults: The planned faults.
        write: Sends bytes to the peer.
        drop: Aborts the connection soon, without a close frame.
        hang_up: Closes the connection as soon as all bytes are sent.
    """

    def __init__(
        self,
        namespace: Namespace,
        faults: Faults,
        write: Callable[[bytes], None],
        drop: Callable[[], object],
        hang_up: Callable[[], object],
    ) -> None:
        self._namespace, self._faults, self._write, self._drop = namespace, faults, write, drop
        self._hang_up = hang_up
        self._reader = FrameReader()
        self._sessions: dict[int, Session] = {}
        self._frame_size = MAX_FRAME_SIZE
        self._lifetimes = Lifetimes(namespace, self._links, self._close)
        self.idle_time_out: float | None = None
        self.closed = False

    def receive(self, data: bytes) -> None:
        """Handle received bytes.

        Raises:
            MalformedError: The bytes are not AMQP.
            DroppedError: A fault aborts the connection.
        """
        for part in self._reader.feed(data):
            if isinstance(part, Header):
                self._greet(part)
            elif part.kind == SASL_FRAME:
                self._negotiate(part)
            elif part.body and not self.closed:
                self._perform(part.channel, parse_performative(part.body))
        self._lifetimes.plan()

    def keep_alive(self) -> None:
        """Send a keep-alive frame."""
        if not self.closed:
            self._write(KEEP_ALIVE)

    def lost(self) -> None:
        """Close the connection and release all that the peer holds."""
        self.closed = True
        self._lifetimes.stop()
        for session in self._sessions.values():
            session.end()
        self._sessions.clear()

    def detach(self, path: str, reason: RefusedError) -> None:
        """Detach all links to an entity, with the reason."""
        for link in self._links():
            if link.path.lower() == path.lower():
                link.dismissed(reason)
        self._lifetimes.plan()

    def _links(self) -> list[Link]:
        """Return the links to entities."""
        return [link for session in self._sessions.values() for link in session.links.values() if link.path]

    def _close(self, reason: RefusedError) -> None:
        """Close the connection, and tell the peer the reason."""
        self._say(0, replies.close(replies.error(reason.condition, reason.description)))
        self.lost()
        self._hang_up()

    def _greet(self, header: Header) -> None:
        self._write(header.data)
        if header.wants_sasl:
            self._write(frame(replies.sasl_mechanisms(), kind=SASL_FRAME))

    def _negotiate(self, part: Frame) -> None:
        if decode(part.body)[0].code == _SASL_INIT:
            self._write(frame(replies.sasl_outcome(), kind=SASL_FRAME))

    def _perform(self, channel: int, said: Performative) -> None:
        match said:
            case Open():
                self._open(said)
            case Begin():
                self._begin(channel, said)
            case Close():
                self._say(0, replies.close())
                self.lost()
            case End():
                self._end(channel)
            case Attach() | Flow() | Transfer() | Disposition() | Detach():
                session = self._sessions.get(channel)
                if session is not None:  # the SDK also detaches links of sessions that it has ended
                    self._on_session(session, said)

    def _open(self, said: Open) -> None:
        self._frame_size = min(said.max_frame_size, MAX_FRAME_SIZE)
        self.idle_time_out = None if said.idle_time_out is None else said.idle_time_out / 1000
        self._say(0, replies.open_(said.hostname))

    def _begin(self, channel: int, said: Begin) -> None:
        self._sessions[channel] = Session(
            said,
            lambda body, payload=b"": self._say(channel, body, payload),
            self._drop,
            self._frame_size,
            self._lifetimes,
        )
        self._say(channel, replies.begin(channel))

    def _end(self, channel: int) -> None:
        session = self._sessions.pop(channel, None)
        if session is not None:
            session.end()
        self._say(channel, replies.end())

    def _on_session(self, session: Session, said: Attach | Flow | Transfer | Disposition | Detach) -> None:
        match said:
            case Attach():
                attach(session, said, self._namespace, self._faults)
            case Flow():
                self._flow(session, said)
            case Transfer():
                session.received()
                link = session.links.get(said.handle)
                if isinstance(link, IncomingLink):
                    link.transfer(said)
            case Disposition():
                if said.peer_received:
                    settle(session, said, self._faults)
            case Detach():
                self._detach(session, said)

    def _flow(self, session: Session, said: Flow) -> None:
        session.granted(said)
        if said.handle is None:
            for each in list(session.links.values()):
                if isinstance(each, OutgoingLink):
                    each.dispatch()
            return
        link = session.links.get(said.handle)
        if isinstance(link, OutgoingLink):
            session.used(link)
            link.flow(said)

    def _detach(self, session: Session, said: Detach) -> None:
        link = session.links.pop(said.handle, None)
        if link is not None:
            session.forget(link)
            link.close()
            session.say(replies.detach(said.handle, closed=said.closed))

    def _say(self, channel: int, body: bytes, payload: bytes = b"") -> None:
        if not self.closed:
            self._write(frame(body + payload, channel=channel, kind=AMQP_FRAME))
