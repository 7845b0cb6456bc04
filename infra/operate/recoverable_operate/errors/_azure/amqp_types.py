"""Name AMQP's types, of which azure-servicebus gives several as one Python type, and read decimals as their senders wrote them. Pure."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

DECIMAL_BIAS = 6176
"""The bias of a decimal's exponent (IEEE 754-2008, "decimal128")."""

DOTNET_DECIMAL = 0x0C
"""The first byte, without its sign, of each decimal that .NET writes: it moves the exponent by nine bits where IEEE moves it by seven
(azure-amqp, `DecimalEncoding`)."""

OPAQUE = {0x73: ("CHAR", 4), 0x74: ("DECIMAL32", 4), 0x84: ("DECIMAL64", 8)}
"""Types that the SDK neither reads nor writes, with their widths in bytes (AMQP 1.0, "Types")."""

NAMES = {
    0x43: "UINT", 0x44: "ULONG", 0x50: "UBYTE", 0x51: "BYTE", 0x52: "UINT", 0x53: "ULONG", 0x54: "INT", 0x55: "LONG",
    0x60: "USHORT", 0x61: "SHORT", 0x70: "UINT", 0x71: "INT", 0x72: "FLOAT", 0x80: "ULONG", 0x81: "LONG", 0x82: "DOUBLE",
    0x83: "TIMESTAMP", 0xA0: "BINARY", 0xA1: "STRING", 0xA3: "SYMBOL", 0xB0: "BINARY", 0xB1: "STRING", 0xB3: "SYMBOL",
    0xE0: "ARRAY", 0xF0: "ARRAY",
}  # fmt: skip
"""The SDK's name of the type of each constructor that shares its Python type with others."""

COMPOUND = {0xC0: 1, 0xC1: 1, 0xE0: 1, 0xD0: 4, 0xD1: 4, 0xF0: 4}
"""The constructors of lists, maps and arrays, with the bytes in which each says how long it is (AMQP 1.0, "Primitive Type Definitions")."""

UNSENDABLE = frozenset(("ARRAY", "CHAR", "DECIMAL32", "DECIMAL64", "FOREIGN"))
"""Types of which the SDK cannot write a copy."""


class Marked:
    """A value with the name of its AMQP type, and the descriptor that stood before it."""

    amqp_type: str
    descriptor: Any = None


class MarkedInt(Marked, int):
    """An integer or a timestamp."""


class MarkedFloat(Marked, float):
    """A number of 32 or 64 bits."""


class MarkedBytes(Marked, bytes):
    """A text, a symbol or bytes; or the bytes of what the SDK does not know."""


class MarkedList(Marked, list[Any]):
    """An array."""


class Foreign(Marked, dict[Any, Any]):
    """A value that the SDK cannot decode, or whose descriptor it loses; a section of a message too, in place of its map."""

    amqp_type = "FOREIGN"


class RawDecimal(Marked, Decimal):
    """A decimal whose digits and exponent, as the SDK writes them, give the bits that came in, whoever wrote these."""

    amqp_type = "DECIMAL128"


def decimal_from(raw: bytes) -> RawDecimal:
    """Return the decimal of these bits."""
    bits = int.from_bytes(raw, "big")
    digits = tuple(map(int, str(bits & ((1 << 113) - 1))))
    return RawDecimal((bits >> 127, digits, ((bits >> 113) & 0x3FFF) - DECIMAL_BIAS))


def decimal_bits(value: RawDecimal) -> bytes:
    """Return the bits of a decimal, as they were on the wire."""
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)  # made of bits, which are read as a number always
    bits = sign << 127 | (exponent + DECIMAL_BIAS) << 113 | int("".join(map(str, digits)))
    return bits.to_bytes(16, "big")


def decimal_text(value: RawDecimal) -> str:
    """Return the number that its sender meant, whether that was .NET or another."""
    raw = decimal_bits(value)
    if raw[0] & 0x7F != DOTNET_DECIMAL:
        return str(Decimal(value))
    exponent = (raw[0] & 0x7F) << 9 | raw[1] >> 1
    digits = tuple(map(int, str(int.from_bytes(raw[4:], "big"))))
    return format(Decimal((raw[0] >> 7, digits, exponent - DECIMAL_BIAS)), "f")


def id_text(value: Any) -> str | None:
    """Return an id as text, as .NET does: a sender may have written a number, a UUID or bytes."""
    if value is None:
        return None
    try:
        return value.decode() if isinstance(value, bytes) else str(value)
    except UnicodeDecodeError:
        return bytes(value).hex()
