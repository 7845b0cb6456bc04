"""Encode the performatives that the server sends, with all their fields, because the peer's library reads them by index."""

from __future__ import annotations

from collections.abc import Iterable

from recoverable_local.service_bus.amqp import encoding as e
from recoverable_local.service_bus.amqp.frames import MAX_FRAME_SIZE
from recoverable_local.service_bus.amqp.performatives import Attach

ACCEPTED, REJECTED, RELEASED, MODIFIED = 0x24, 0x25, 0x26, 0x27
"""The descriptors of the outcomes of a delivery."""

_WINDOW = 2**31 - 1  # transfers that the server accepts at any time: no limit
_IDLE = 120_000  # the announced idle time-out, in milliseconds
_HANDLES = 255
_FIELDS = {0x10: 10, 0x11: 8, 0x12: 14, 0x13: 11, 0x14: 11, 0x15: 6, 0x16: 3, 0x17: 1, 0x18: 1}


def sasl_mechanisms() -> bytes:
    """Build the list of SASL mechanisms; the server checks no credentials."""
    names = [e.long_symbol(name) for name in ("ANONYMOUS", "PLAIN", "MSSBCBS", "EXTERNAL")]
    return e.described(0x40, e.sequence([e.array(names)]))


def sasl_outcome() -> bytes:
    """Build the SASL outcome: always success."""
    return e.described(0x44, e.sequence([e.ubyte(0)]))


def open_(hostname: str) -> bytes:
    """Build an open."""
    return _performative(
        0x10, [e.string("recoverable"), e.string(hostname), e.uint(MAX_FRAME_SIZE), e.ushort(4999), e.uint(_IDLE)]
    )


def begin(channel: int) -> bytes:
    """Build a begin, the answer to the peer's on this channel."""
    return _performative(0x11, [e.ushort(channel), e.uint(0), e.uint(_WINDOW), e.uint(_WINDOW), e.uint(_HANDLES)])


def attach(
    request: Attach, *, source: bytes, target: bytes, max_message_size: int, properties: bytes = e.NULL
) -> bytes:
    """Build the answer to a peer's attach; source and target are encoded termini."""
    first_count = e.uint(0) if request.peer_receives else e.NULL
    return _performative(
        0x12,
        [
            e.string(request.name), e.uint(request.handle), e.boolean(not request.peer_receives),
            e.ubyte(request.sender_settles), e.ubyte(request.receiver_settles),
            source, target, e.NULL, e.NULL, first_count, e.ulong(max_message_size), e.NULL, e.NULL, properties,
        ],
    )  # fmt: skip


def source(address: str, filters: Iterable[tuple[bytes, bytes]] = ()) -> bytes:
    """Build the source of a link, where messages come from."""
    return e.described(0x28, e.sequence([e.string(address), *[e.NULL] * 6, e.mapping(filters), *[e.NULL] * 3]))


def target(address: str) -> bytes:
    """Build the target of a link, where messages go."""
    return e.described(0x29, e.sequence([e.string(address), *[e.NULL] * 6]))


def flow(
    next_incoming: int, next_outgoing: int, link: tuple[int, int, int] | None = None, *, drain: bool = False
) -> bytes:
    """Build a flow for the session or, with its handle, delivery count and credit, for a link."""
    numbers = [next_incoming % 2**32, _WINDOW, next_outgoing % 2**32, _WINDOW]
    fields = [e.uint(number) for number in numbers]
    if link is not None:
        fields += [*(e.uint(number) for number in link), e.uint(0), e.boolean(drain)]
    return _performative(0x13, fields)


def transfer(handle: int, *, more: bool, first: tuple[int, bytes, bool] | None) -> bytes:
    """Build the transfer before a part of a message; for the first part with delivery id, tag, and True if it is settled."""
    start = [e.NULL] * 4
    if first is not None:
        delivery_id, tag, settled = first
        start = [e.uint(delivery_id), e.binary(tag), e.uint(0), e.boolean(settled)]
    return _performative(0x14, [e.uint(handle), *start, e.boolean(more)])


def disposition(delivery_id: int, state: bytes, *, we_received: bool) -> bytes:
    """Build the disposition of one delivery."""
    return _performative(0x15, [e.boolean(we_received), e.uint(delivery_id), e.uint(delivery_id), e.TRUE, state])


def detach(handle: int, *, closed: bool, problem: bytes = e.NULL) -> bytes:
    """Build a detach, with the error that is its reason."""
    return _performative(0x16, [e.uint(handle), e.boolean(closed), problem])


def end() -> bytes:
    """Build an end."""
    return _performative(0x17, [])


def close(problem: bytes = e.NULL) -> bytes:
    """Build a close, with the error that is its reason."""
    return _performative(0x18, [problem])


def error(condition: str, description: str) -> bytes:
    """Build an error, with the three fields that peers expect."""
    return e.described(0x1D, e.sequence([e.symbol(condition), e.string(description), e.mapping([])]))


def outcome(code: int, *fields: bytes) -> bytes:
    """Build the outcome of a delivery."""
    return e.described(code, e.sequence(fields))


def rejected(condition: str, description: str) -> bytes:
    """Build the outcome of a refused delivery, with the reason."""
    return outcome(REJECTED, error(condition, description))


def _performative(code: int, fields: list[bytes]) -> bytes:
    return e.described(code, e.sequence([*fields, *[e.NULL] * (_FIELDS[code] - len(fields))]))
