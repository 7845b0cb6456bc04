"""What we say in a frame: each performative encoded with all its fields, since the peer's library indexes them."""

from __future__ import annotations

from collections.abc import Iterable

from recoverable_local.service_bus.amqp import encoding as e
from recoverable_local.service_bus.amqp.frames import MAX_FRAME_SIZE
from recoverable_local.service_bus.amqp.performatives import Attach

ACCEPTED, REJECTED, RELEASED, MODIFIED = 0x24, 0x25, 0x26, 0x27
"""The descriptors of what can become of a delivery."""

_WINDOW = 2**31 - 1  # transfers that we can take at any time: all
_IDLE = 120_000  # milliseconds after which we would give up a silent connection
_HANDLES = 255
_FIELDS = {0x10: 10, 0x11: 8, 0x12: 14, 0x13: 11, 0x14: 11, 0x15: 6, 0x16: 3, 0x17: 1, 0x18: 1}


def sasl_mechanisms() -> bytes:
    """The ways to prove who one is; none is looked at."""
    names = [e.long_symbol(name) for name in ("ANONYMOUS", "PLAIN", "MSSBCBS", "EXTERNAL")]
    return e.described(0x40, e.sequence([e.array(names)]))


def sasl_outcome() -> bytes:
    """Whoever it is may go on."""
    return e.described(0x44, e.sequence([e.ubyte(0)]))


def open_(hostname: str) -> bytes:
    """Opens the connection."""
    return _performative(
        0x10, [e.string("recoverable"), e.string(hostname), e.uint(MAX_FRAME_SIZE), e.ushort(4999), e.uint(_IDLE)]
    )


def begin(channel: int) -> bytes:
    """Opens a session."""
    return _performative(0x11, [e.ushort(channel), e.uint(0), e.uint(_WINDOW), e.uint(_WINDOW), e.uint(_HANDLES)])


def attach(asked: Attach, *, source: bytes, target: bytes, max_message_size: int, properties: bytes = e.NULL) -> bytes:
    """Opens the link that is asked for; source and target are encoded termini."""
    first_count = e.uint(0) if asked.peer_receives else e.NULL
    return _performative(
        0x12,
        [
            e.string(asked.name), e.uint(asked.handle), e.boolean(not asked.peer_receives),
            e.ubyte(asked.sender_settles), e.ubyte(asked.receiver_settles),
            source, target, e.NULL, e.NULL, first_count, e.ulong(max_message_size), e.NULL, e.NULL, properties,
        ],
    )  # fmt: skip


def source(address: str, filters: Iterable[tuple[bytes, bytes]] = ()) -> bytes:
    """Where messages come from."""
    return e.described(0x28, e.sequence([e.string(address), *[e.NULL] * 6, e.mapping(filters), *[e.NULL] * 3]))


def target(address: str) -> bytes:
    """Where messages go."""
    return e.described(0x29, e.sequence([e.string(address), *[e.NULL] * 6]))


def flow(
    next_incoming: int, next_outgoing: int, link: tuple[int, int, int] | None = None, *, drain: bool = False
) -> bytes:
    """Grants credit; of the link, if one is given, its handle, delivery count and credit."""
    numbers = [next_incoming % 2**32, _WINDOW, next_outgoing % 2**32, _WINDOW]
    fields = [e.uint(number) for number in numbers]
    if link is not None:
        fields += [*(e.uint(number) for number in link), e.uint(0), e.boolean(drain)]
    return _performative(0x13, fields)


def transfer(handle: int, *, more: bool, first: tuple[int, bytes, bool] | None) -> bytes:
    """Precedes a part of a message; the first part names delivery, tag, and whether it is settled."""
    start = [e.NULL] * 4
    if first is not None:
        delivery_id, tag, settled = first
        start = [e.uint(delivery_id), e.binary(tag), e.uint(0), e.boolean(settled)]
    return _performative(0x14, [e.uint(handle), *start, e.boolean(more)])


def disposition(delivery_id: int, state: bytes, *, we_received: bool) -> bytes:
    """Says what became of one delivery."""
    return _performative(0x15, [e.boolean(we_received), e.uint(delivery_id), e.uint(delivery_id), e.TRUE, state])


def detach(handle: int, *, closed: bool, problem: bytes = e.NULL) -> bytes:
    """Closes a link, with the error that is the reason."""
    return _performative(0x16, [e.uint(handle), e.boolean(closed), problem])


def end() -> bytes:
    """Closes a session."""
    return _performative(0x17, [])


def close() -> bytes:
    """Closes the connection."""
    return _performative(0x18, [])


def error(condition: str, description: str) -> bytes:
    """An error, with the three fields that peers expect."""
    return e.described(0x1D, e.sequence([e.symbol(condition), e.string(description), e.mapping([])]))


def outcome(code: int, *fields: bytes) -> bytes:
    """What became of a delivery."""
    return e.described(code, e.sequence(fields))


def rejected(condition: str, description: str) -> bytes:
    """That a delivery was refused, and why."""
    return outcome(REJECTED, error(condition, description))


def _performative(code: int, fields: list[bytes]) -> bytes:
    return e.described(code, e.sequence([*fields, *[e.NULL] * (_FIELDS[code] - len(fields))]))
