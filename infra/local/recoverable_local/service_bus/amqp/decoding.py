"""Decode AMQP 1.0 bytes to Python values; numbers become int or float, dates `Timestamp`, symbols `Symbol`, decimals stay bytes."""

from __future__ import annotations

import struct
from typing import Any
from uuid import UUID

from recoverable_local.service_bus.amqp.types import Described, MalformedError, Symbol, Timestamp

_CONSTANTS = {0x40: None, 0x41: True, 0x42: False, 0x43: 0, 0x44: 0, 0x45: ()}
_NUMBERS = {
    0x50: ">B", 0x51: ">b", 0x52: ">B", 0x53: ">B", 0x54: ">b", 0x55: ">b", 0x56: ">?", 0x60: ">H", 0x61: ">h",
    0x70: ">I", 0x71: ">i", 0x72: ">f", 0x80: ">Q", 0x81: ">q", 0x82: ">d",
}  # fmt: skip
_TIMESTAMP = 0x83
_OPAQUE = {0x73: 4, 0x74: 4, 0x84: 8, 0x94: 16}  # char and decimals, with their widths


def decode(data: bytes, start: int = 0) -> tuple[Any, int]:
    """Decode the value that begins at an offset. Return it and the offset behind it.

    Raises:
        MalformedError: The bytes at that offset are not an AMQP value.
    """
    try:
        return _value(data, start)
    except (IndexError, TypeError, ValueError, struct.error, RecursionError) as error:
        raise MalformedError(f"no AMQP value at byte {start} of {len(data)}: {error}") from error


def _value(data: bytes, at: int) -> tuple[Any, int]:
    if data[at] == 0:
        descriptor, at = _value(data, at + 1)
        value, at = _value(data, at)
        return Described(descriptor, value), at
    return _primitive(data[at], data, at + 1)


def _primitive(constructor: int, data: bytes, at: int) -> tuple[Any, int]:
    if constructor in _CONSTANTS:
        constant = _CONSTANTS[constructor]
        return ([] if constant == () else constant), at
    if constructor in _NUMBERS:
        form = _NUMBERS[constructor]
        return struct.unpack_from(form, data, at)[0], at + struct.calcsize(form)
    if constructor == _TIMESTAMP:
        return Timestamp(struct.unpack_from(">q", data, at)[0]), at + 8
    if constructor == 0x98:  # noqa: PLR2004 -- the constructor of a UUID
        return UUID(bytes=_take(data, at, 16)), at + 16
    if constructor in _OPAQUE:
        return _take(data, at, _OPAQUE[constructor]), at + _OPAQUE[constructor]
    return _sized(constructor, data, at)


def _sized(constructor: int, data: bytes, at: int) -> tuple[Any, int]:
    """Decode a value that begins with its length in bytes; the length takes one byte or four."""
    kind, wide = constructor & 0xEF, bool(constructor & 0x10)
    size = struct.unpack_from(">I", data, at)[0] if wide else data[at]
    at += 4 if wide else 1
    match kind:
        case 0xA0:
            return _take(data, at, size), at + size
        case 0xA1:
            return _take(data, at, size).decode(), at + size
        case 0xA3:
            return Symbol(_take(data, at, size).decode()), at + size
        case 0xC0 | 0xC1 | 0xE0:
            return _counted(kind, data, at, wide=wide)
        case _:
            raise MalformedError(f"0x{constructor:02x} at byte {at} is no constructor of an AMQP type")


def _counted(kind: int, data: bytes, at: int, *, wide: bool) -> tuple[Any, int]:
    """Decode a list, a map or an array: its length is followed by the number of its elements."""
    count = struct.unpack_from(">I", data, at)[0] if wide else data[at]
    at += 4 if wide else 1
    if kind == 0xE0:  # noqa: PLR2004 -- the constructor of an array
        return _array(count, data, at)
    items = []
    for _ in range(count):
        item, at = _value(data, at)
        items.append(item)
    return (items if kind == 0xC0 else dict(zip(items[::2], items[1::2], strict=True))), at  # noqa: PLR2004


def _array(count: int, data: bytes, at: int) -> tuple[list[Any], int]:
    constructor, at = data[at], at + 1
    if constructor == 0:  # elements with a descriptor, which is written once
        _, at = _value(data, at)
        constructor, at = data[at], at + 1
    if count > len(data):  # an element can take no bytes, so a hostile count could otherwise be unlimited
        raise MalformedError(f"an array of {count} elements announced at byte {at} of {len(data)}")
    items = []
    for _ in range(count):
        item, at = _primitive(constructor, data, at)
        items.append(item)
    return items, at


def _take(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise MalformedError(f"{size} bytes announced at byte {at} of {len(data)}")
    return bytes(data[at : at + size])
