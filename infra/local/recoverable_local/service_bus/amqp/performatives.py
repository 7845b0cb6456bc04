"""Parse the body of a frame into one frozen value for each kind of performative."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from recoverable_local.service_bus.amqp.decoding import decode
from recoverable_local.service_bus.amqp.types import Described, MalformedError


@dataclass(frozen=True, slots=True)
class Open:
    """Performative that opens the connection."""

    hostname: str
    max_frame_size: int
    idle_time_out: int | None  # milliseconds without a frame after which the peer closes the connection


@dataclass(frozen=True, slots=True)
class Begin:
    """Performative that begins a session."""

    next_outgoing_id: int
    incoming_window: int


@dataclass(frozen=True, slots=True)
class Attach:
    """Performative that attaches a link."""

    name: str
    handle: int
    peer_receives: bool
    sender_settles: int
    receiver_settles: int
    source: str
    target: str
    filters: Mapping[str, Any]
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Flow:
    """Performative that grants credit, on a link or on the whole session."""

    next_incoming_id: int
    incoming_window: int
    handle: int | None
    delivery_count: int
    link_credit: int | None
    drain: bool
    echo: bool


@dataclass(frozen=True, slots=True)
class Transfer:
    """Performative with a message or a part of one."""

    handle: int
    delivery_id: int | None
    message_format: int
    settled: bool
    more: bool
    aborted: bool
    payload: bytes


@dataclass(frozen=True, slots=True)
class Disposition:
    """Performative that states the outcome of deliveries."""

    peer_received: bool
    first: int
    last: int
    settled: bool
    state: Described | None


@dataclass(frozen=True, slots=True)
class Detach:
    """Performative that detaches a link."""

    handle: int
    closed: bool


@dataclass(frozen=True, slots=True)
class End:
    """Performative that ends a session."""


@dataclass(frozen=True, slots=True)
class Close:
    """Performative that closes the connection."""


Performative = Open | Begin | Attach | Flow | Transfer | Disposition | Detach | End | Close


def parse_performative(body: bytes) -> Performative:
    """Parse the body of a frame.

    Raises:
        MalformedError: Not a performative of AMQP 1.0.
    """
    described, end = decode(body)
    well_formed = isinstance(described, Described) and isinstance(described.value, list)
    if not well_formed or not isinstance(described.code, int) or described.code not in _PARSERS:
        raise MalformedError(f"{described!r} is no performative of AMQP 1.0")
    return _PARSERS[described.code](_Fields(described.value), body[end:])


class _Fields:
    """The fields of a performative; trailing fields, and fields at their default, may be missing."""

    def __init__(self, given: list[Any]) -> None:
        self._given = given

    def __call__(self, index: int, default: Any = None) -> Any:
        value = self._given[index] if index < len(self._given) else None
        return default if value is None else value


def _open(field: _Fields, _: bytes) -> Performative:
    return Open(field(1, ""), field(2, 2**32 - 1), field(4))


def _begin(field: _Fields, _: bytes) -> Performative:
    return Begin(field(1, 0), field(2, 0))


def _attach(field: _Fields, _: bytes) -> Performative:
    source, target = _terminus(field(5)), _terminus(field(6))
    filters = {str(name): getattr(each, "value", each) for name, each in source(7, {}).items()}
    return Attach(
        name=field(0),
        handle=field(1),
        peer_receives=field(2),
        sender_settles=field(3, 2),
        receiver_settles=field(4, 0),
        source=source(0, ""),
        target=target(0, ""),
        filters=filters,
        properties=field(13, {}),
    )


def _terminus(described: Described | None) -> _Fields:
    return _Fields(described.value if described else [])


def _flow(field: _Fields, _: bytes) -> Performative:
    return Flow(
        field(0, 0), field(1), field(4), field(5, 0), field(6), field(8, default=False), field(9, default=False)
    )


def _transfer(field: _Fields, payload: bytes) -> Performative:
    settled, more, aborted = (field(index, default=False) for index in (4, 5, 9))
    return Transfer(field(0), field(1), field(3, 0), settled, more, aborted, payload)


def _disposition(field: _Fields, _: bytes) -> Performative:
    return Disposition(field(0), field(1), field(2, field(1)), field(3, default=False), field(4))


def _detach(field: _Fields, _: bytes) -> Performative:
    return Detach(field(0), field(1, default=False))


_PARSERS: dict[int, Callable[[_Fields, bytes], Performative]] = {
    0x10: _open,
    0x11: _begin,
    0x12: _attach,
    0x13: _flow,
    0x14: _transfer,
    0x15: _disposition,
    0x16: _detach,
    0x17: lambda _fields, _payload: End(),
    0x18: lambda _fields, _payload: Close(),
}
