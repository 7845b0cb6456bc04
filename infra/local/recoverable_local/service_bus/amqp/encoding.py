"""Encode Python values as AMQP 1.0 bytes, with one function for each type."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from uuid import UUID

NULL = b"\x40"
TRUE = b"\x41"
FALSE = b"\x42"
_SMALL = 256  # a length or number below this fits in one byte


def boolean(value: bool) -> bytes:  # noqa: FBT001 -- the value itself, no flag
    """Encode a boolean."""
    return TRUE if value else FALSE


def ubyte(number: int) -> bytes:
    """Encode an unsigned number of 8 bits."""
    return struct.pack(">BB", 0x50, number)


def ushort(number: int) -> bytes:
    """Encode an unsigned number of 16 bits."""
    return struct.pack(">BH", 0x60, number)


def uint(number: int) -> bytes:
    """Encode an unsigned number of 32 bits, in its shortest form."""
    if number == 0:
        return b"\x43"
    return struct.pack(">BB", 0x52, number) if number < _SMALL else struct.pack(">BI", 0x70, number)


def ulong(number: int) -> bytes:
    """Encode an unsigned number of 64 bits, in its shortest form."""
    if number == 0:
        return b"\x44"
    return struct.pack(">BB", 0x53, number) if number < _SMALL else struct.pack(">BQ", 0x80, number)


def int32(number: int) -> bytes:
    """Encode a signed number of 32 bits."""
    return struct.pack(">Bi", 0x71, number)


def int64(number: int) -> bytes:
    """Encode a signed number of 64 bits."""
    return struct.pack(">Bq", 0x81, number)


def timestamp(milliseconds: int) -> bytes:
    """Encode a time, given in milliseconds since 1970."""
    return struct.pack(">Bq", 0x83, milliseconds)


def uuid(value: UUID) -> bytes:
    """Encode a UUID."""
    return b"\x98" + value.bytes


def binary(value: bytes) -> bytes:
    """Encode bytes."""
    return _variable(0xA0, value)


def string(value: str) -> bytes:
    """Encode a string."""
    return _variable(0xA1, value.encode())


def symbol(value: str) -> bytes:
    """Encode a symbol."""
    return _variable(0xA3, value.encode())


def sequence(items: Sequence[bytes]) -> bytes:
    """Encode a list of encoded values."""
    return b"\x45" if not items else _compound(0xC0, len(items), b"".join(items))


def mapping(pairs: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Encode a map of encoded keys to encoded values."""
    flat = [part for pair in pairs for part in pair]
    return _compound(0xC1, len(flat), b"".join(flat))


def array(values: Sequence[bytes]) -> bytes:
    """Encode an array of encoded values with the same constructor; symbols must have been encoded by `long_symbol`."""
    constructor = values[0][:1] if values else NULL
    body = constructor + b"".join(value[1:] for value in values)
    return struct.pack(">BII", 0xF0, len(body) + 4, len(values)) + body


def long_symbol(value: str) -> bytes:
    """Encode a symbol with a length of four bytes, so that symbols of any length fit in one array."""
    return struct.pack(">BI", 0xB3, len(value)) + value.encode()


def described(code: int, value: bytes) -> bytes:
    """Put a descriptor before an encoded value."""
    return b"\x00" + ulong(code) + value


def plain(value: object) -> bytes:
    """Encode a value by its Python type; integers take 64 bits, and types that AMQP does not have become strings."""
    encode = _PLAIN.get(type(value))
    return encode(value) if encode else string(str(value))


def _variable(code: int, value: bytes) -> bytes:
    if len(value) < _SMALL:
        return bytes((code, len(value))) + value
    return struct.pack(">BI", code + 0x10, len(value)) + value


def _compound(code: int, count: int, body: bytes) -> bytes:
    if len(body) + 1 < _SMALL and count < _SMALL:
        return bytes((code, len(body) + 1, count)) + body
    return struct.pack(">BII", code + 0x10, len(body) + 4, count) + body


_PLAIN: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda _: NULL,
    bool: boolean,
    int: int64,
    float: lambda number: struct.pack(">Bd", 0x82, number),
    bytes: binary,
    UUID: uuid,
}
