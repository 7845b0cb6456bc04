"""Define the AMQP types that Python does not have, and the error for malformed bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class MalformedError(ValueError):
    """The bytes are no AMQP 1.0."""


class Symbol(str):
    """A symbol: a name from a fixed vocabulary, which AMQP distinguishes from strings."""

    __slots__ = ()


class Timestamp(int):
    """A date: milliseconds since 1970, which AMQP distinguishes from numbers."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Described:
    """A value with a descriptor of its type.

    Args:
        code: The descriptor; a number for all types that AMQP defines itself.
        value: The described value, decoded.
    """

    code: Any
    value: Any
