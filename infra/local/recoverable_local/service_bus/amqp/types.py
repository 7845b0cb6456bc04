"""What AMQP has and Python has not: symbols, described values, and the complaint about malformed bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class MalformedError(ValueError):
    """The bytes are no AMQP 1.0."""


class Symbol(str):
    """A name out of a fixed vocabulary, which AMQP keeps apart from strings."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Described:
    """A value with a descriptor that says what it means.

    Args:
        code: The descriptor; a number for all that AMQP defines itself.
        value: What it describes, decoded.
    """

    code: Any
    value: Any
