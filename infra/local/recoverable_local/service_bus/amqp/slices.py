"""Find where encoded values begin and end, so that a sender's bytes can be forwarded unchanged."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from recoverable_local.service_bus.amqp.types import MalformedError

_WIDTHS = {0x4: 0, 0x5: 1, 0x6: 2, 0x7: 4, 0x8: 8, 0x9: 16}  # by the first half of the constructor
_BYTE_LENGTH = (0xA, 0xC, 0xE)
_WORD_LENGTH = (0xB, 0xD, 0xF)


def end_of(data: bytes, start: int) -> int:
    """Return the offset behind the value that begins at an offset.

    Raises:
        MalformedError: The bytes at that offset are not an AMQP value.
    """
    try:
        end = _end(data, start)
    except (IndexError, RecursionError, struct.error) as error:
        raise MalformedError(f"no AMQP value at byte {start} of {len(data)}") from error
    if end > len(data):
        raise MalformedError(f"the AMQP value at byte {start} ends behind byte {len(data)}")
    return end


def _end(data: bytes, start: int) -> int:
    if data[start] == 0:
        return _end(data, _end(data, start + 1))
    family = data[start] >> 4
    if family in _BYTE_LENGTH:
        return start + 2 + data[start + 1]
    if family in _WORD_LENGTH:
        return start + 5 + int(struct.unpack_from(">I", data, start + 1)[0])
    if family not in _WIDTHS:
        raise MalformedError(f"0x{data[start]:02x} at byte {start} is no constructor of an AMQP type")
    return start + 1 + _WIDTHS[family]


def values(data: bytes) -> Iterator[bytes]:
    """Yield the encoded values that follow one another."""
    at = 0
    while at < len(data):
        end = end_of(data, at)
        yield bytes(data[at:end])
        at = end


def elements(data: bytes) -> list[bytes]:
    """Return the encoded elements of an encoded list or map; keys and values of a map alternate.

    Raises:
        MalformedError: It is neither.
    """
    if not data or data[0] in (0x40, 0x45):
        return []
    if data[0] in (0xC0, 0xC1):
        return list(values(data[3:]))
    if data[0] in (0xD0, 0xD1):
        return list(values(data[9:]))
    raise MalformedError(f"0x{data[0]:02x} begins neither a list nor a map")
