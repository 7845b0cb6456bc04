"""Let azure-servicebus tell AMQP's types apart: it decodes several of them as one Python type, and writes back another one.

Its table of decoders is private, and the only place that sees what was on the wire. So it is changed in the process of a command, a local
host or a world alone. A version without such a table goes on without marks: then kinds stay, and widths are those that the SDK chooses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recoverable_operate.errors._azure.amqp_types import (
    COMPOUND,
    NAMES,
    OPAQUE,
    Foreign,
    MarkedBytes,
    MarkedFloat,
    MarkedInt,
    MarkedList,
    RawDecimal,
    decimal_from,
)

Decoder = Callable[..., tuple[memoryview, Any]]

DECIMAL = 0x94
"""The constructor of a decimal of 128 bits."""

MARKED: dict[type, type[Any]] = {int: MarkedInt, float: MarkedFloat, bytes: MarkedBytes, list: MarkedList}


def mark_types() -> bool:
    """Make the SDK of this process mark what it decodes. Return False for a version that has no table for it."""
    from azure.servicebus._pyamqp import _decode

    table: list[Decoder | None] | None = getattr(_decode, "_DECODE_BY_CONSTRUCTOR", None)
    if table is None:
        return False
    if table[DECIMAL] is not decode_decimal:
        mark(table)
    return True


def mark(table: list[Decoder | None]) -> None:
    """Change a table of decoders."""
    for constructor, name in NAMES.items():
        if decoder := table[constructor]:
            table[constructor] = marking(decoder, name)
    for constructor, (name, width) in OPAQUE.items():
        table[constructor] = opaque(name, width)
    table[DECIMAL] = decode_decimal
    for constructor, width in COMPOUND.items():
        if decoder := table[constructor]:
            table[constructor] = passing_over(decoder, width)
    if described := table[0x00]:
        table[0x00] = marking_described(described, table)


def marking(decode: Decoder, name: str) -> Decoder:
    """Return the decoder with its values marked."""

    def decode_marked(buffer: memoryview, *depth: int) -> tuple[memoryview, Any]:
        rest, value = decode(buffer, *depth)
        marked = MARKED[type(value)](value)
        marked.amqp_type = name
        return rest, marked

    return decode_marked


def passing_over(decode: Decoder, width: int) -> Decoder:
    """Return the decoder of a list, a map or an array, which passes over one that it cannot decode: in so many bytes each says its length."""

    def decode_or_pass_over(buffer: memoryview, *depth: int) -> tuple[memoryview, Any]:
        try:
            return decode(buffer, *depth)
        except Exception:  # noqa: BLE001  # whatever a sender wrote, it is named, and what lies beside it is decoded
            return buffer[width + int.from_bytes(buffer[:width], "big") :], Foreign()

    return decode_or_pass_over


def opaque(name: str, width: int) -> Decoder:
    """Return a decoder of values of which nothing is known but their width."""

    def decode_opaque(buffer: memoryview, *_depth: int) -> tuple[memoryview, Any]:
        marked = MarkedBytes(buffer[:width])
        marked.amqp_type = name
        return buffer[width:], marked

    return decode_opaque


def marking_described(decode: Decoder, table: list[Decoder | None]) -> Decoder:
    """Return the decoder of described values, which keeps the descriptor of a scalar."""

    def part(buffer: memoryview, *depth: int) -> tuple[memoryview, Any]:
        if (decoder := table[buffer[0]]) is None:
            raise ValueError(f"0x{buffer[0]:02x} is no constructor of an AMQP type")
        return decoder(buffer[1:], *depth)

    def decode_described(buffer: memoryview, *depth: int) -> tuple[memoryview, Any]:
        deeper = [each + 1 for each in depth]  # older versions do not count how deep they are
        rest, descriptor = part(buffer, *deeper)
        if rest[0] in NAMES or rest[0] in OPAQUE or rest[0] == DECIMAL:
            rest, value = part(rest, *deeper)
            value.descriptor = descriptor
            return rest, value
        after, value = part(rest, *deeper)
        if isinstance(value, list | dict) and rest[0]:
            return decode(buffer, *depth)  # performatives too
        return after, Foreign()

    return decode_described


def decode_decimal(buffer: memoryview, *_depth: int) -> tuple[memoryview, RawDecimal]:
    """Decode a decimal so that the SDK writes the same bits again."""
    return buffer[16:], decimal_from(bytes(buffer[:16]))
