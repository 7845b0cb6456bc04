"""Create the link for a node that a peer attaches to."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from urllib.parse import parse_qs

from recoverable_local.service_bus.amqp.decoding import decode
from recoverable_local.service_bus.amqp.performatives import Attach
from recoverable_local.service_bus.amqp.slices import values
from recoverable_local.service_bus.broker.entity import Entity
from recoverable_local.service_bus.broker.holding.content import parse
from recoverable_local.service_bus.broker.limits import MAX_MESSAGE, check_size
from recoverable_local.service_bus.broker.namespace import Namespace
from recoverable_local.service_bus.broker.profile import DEAD_LETTERS, check_target
from recoverable_local.service_bus.broker.refusals import RefusedError, not_allowed, wrong_scope
from recoverable_local.service_bus.faults import DroppedError, Faults, Operation, SilencedError
from recoverable_local.service_bus.links.incoming import IncomingLink
from recoverable_local.service_bus.links.lifetimes import covers
from recoverable_local.service_bus.links.management import manage
from recoverable_local.service_bus.links.outgoing import SESSION_FILTER, OutgoingLink
from recoverable_local.service_bus.links.requests import Answer, Request, encode_answer, parse_request
from recoverable_local.service_bus.links.session import Session

_CBS = "$cbs"
_MANAGEMENT = "/$management"
_BATCH = 0x80013700  # the format of a message that holds messages
_SESSION_TIMEOUT = 60_000  # milliseconds that a receiver waits for any session if it sets no time-out


def attach(session: Session, request: Attach, namespace: Namespace, faults: Faults) -> None:
    """Create the link that a peer requests, or refuse it."""
    node = _path(request.source if request.peer_receives else request.target)
    try:
        if node.lower() != _CBS:
            session.lifetimes.check(request, node)
        if node.lower() == _CBS or node.lower().endswith(_MANAGEMENT):
            _attach_requests(session, request, node, namespace, faults)
            return
        entity = faults.perform(Operation.ATTACH, node, lambda: namespace.open(node))
        (_attach_receiver if request.peer_receives else _attach_sender)(session, request, entity, faults)
    except RefusedError as refused:
        OutgoingLink(session, request, node).dismissed(refused)


def _path(address: str) -> str:
    """Return the path of an address, which may be a URI."""
    _, scheme, rest = address.partition("://")
    return (rest.partition("/")[2] if scheme else address).strip("/")


def _attach_receiver(session: Session, request: Attach, entity: Entity, faults: Faults) -> None:
    path = entity.profile.path
    if entity.outlet is not None and not path.endswith(DEAD_LETTERS):
        raise not_allowed(f"Nobody receives from {path!r}: it is a topic, or it forwards its messages.")
    if entity.profile.sessions is not (SESSION_FILTER in request.filters):
        way = "requires sessions" if entity.profile.sessions else "has no sessions"
        raise not_allowed(f"The entity {path!r} {way}; the receiver must be made accordingly.")
    link = OutgoingLink(session, request, path, entity, faults)
    if entity.profile.sessions:
        _accept_session(entity, link, request)
        session.links.setdefault(request.handle, link)
        return
    session.add(link)
    entity.receivers.add(link)


def _accept_session(entity: Entity, link: OutgoingLink, request: Attach) -> None:
    wanted = request.filters[SESSION_FILTER]
    if wanted is not None:
        entity.sessions.accept(link, wanted)
        return
    entity.sessions.wait(link, request.properties.get("com.microsoft:timeout", _SESSION_TIMEOUT) / 1000)
    entity.receivers.dispatch()


def _attach_sender(session: Session, request: Attach, entity: Entity, faults: Faults) -> None:
    check_target(entity.profile.path)

    def take(data: bytes, message_format: int) -> None:
        faults.perform(Operation.SEND, entity.profile.path, lambda: _enqueue(entity, data, message_format))

    session.add(IncomingLink(session, request, entity.profile.path, entity.profile.max_message_size, take))


def _enqueue(entity: Entity, data: bytes, message_format: int) -> None:
    """Take in a message, or all messages of a batch or none; of a batch its messages count, as for the SDK that fills it."""
    parts = [decode(section)[0].value for section in values(data)] if message_format == _BATCH else [data]
    messages = [part for part in parts if isinstance(part, bytes)]
    check_size(sum(map(len, messages)), most=entity.profile.max_message_size)
    contents = [parse(message) for message in messages]
    for content in contents:
        entity.check(content)
    for content in contents:
        entity.put(content)


def _attach_requests(session: Session, request: Attach, node: str, namespace: Namespace, faults: Faults) -> None:
    if request.peer_receives:
        session.add(OutgoingLink(session, request, node))
        return
    cbs = node.lower() == _CBS
    handle = partial(_authenticate, session, faults) if cbs else partial(_manage, namespace, node, faults)
    names = ("status-code", "status-description") if cbs else ("statusCode", "statusDescription")

    def take(data: bytes, _: int) -> Callable[[], None]:
        received = parse_request(data)
        payload = encode_answer(received, handle(received), status=names[0], description=names[1])
        return lambda: _answer(session, node, received, payload)

    session.add(IncomingLink(session, request, "", MAX_MESSAGE, take))


def _authenticate(session: Session, faults: Faults, request: Request) -> Answer:
    """Take a token until it expires, for the entity that it names. Its signature is not checked."""
    audience, expiration = _path(str(request.properties.get("name"))), request.properties.get("expiration")
    signed = parse_qs(request.token.removeprefix("SharedAccessSignature ")).get("sr", [audience])[0]

    def accept() -> Answer:
        if not covers(_path(signed), audience):
            raise wrong_scope(_path(signed), audience)
        session.lifetimes.authorize(audience, None if expiration is None else expiration / 1000)
        return Answer(202, "Accepted")

    try:
        return faults.perform(Operation.AUTHENTICATE, _CBS, accept)
    except RefusedError as refused:
        return Answer(401, refused.description, condition=refused.condition)


def _manage(namespace: Namespace, node: str, faults: Faults, request: Request) -> Answer:
    try:
        return manage(namespace.open(node[: -len(_MANAGEMENT)]), request, faults)
    except RefusedError as refused:
        return Answer(refused.status, refused.description, condition=refused.condition)
    except KeyError as missing:
        return Answer(400, f"The request lacks {missing}.", condition="com.microsoft:argument-error")
    except (DroppedError, SilencedError):
        raise  # planned faults
    except Exception as error:  # noqa: BLE001  # the client's arguments: it is told, and its connection goes on
        text = f"The arguments of {request.operation} are not of the types that it takes ({type(error).__name__}: {error})."
        return Answer(400, text, condition="com.microsoft:argument-error")


def _answer(session: Session, node: str, request: Request, payload: bytes) -> None:
    """Send the answer to a request on the link that it names, else on the newest of that node; nobody waits where there is none."""
    links = [each for each in session.links.values() if isinstance(each, OutgoingLink) and each.node == node]
    named = [each for each in links if each.request.target == request.reply_to]
    for link in (named or links)[-1:]:
        link.reply(payload)
