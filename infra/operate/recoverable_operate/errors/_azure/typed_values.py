"""Keep the values of a Service Bus message with their types, as JSON can hold them. Pure.

A type in capitals is AMQP's, as azure-servicebus names it; one in small letters is Python's, where the SDK does not tell more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from recoverable.headers import in_whole_characters
from recoverable_operate.errors._azure.amqp_types import (
    NAMES,
    Foreign,
    Marked,
    RawDecimal,
    decimal_bits,
    decimal_from,
    decimal_text,
)

Typed = Mapping[str, Any]

NUMBERS = frozenset(NAMES.values()) - {"ARRAY", "BINARY", "STRING", "SYMBOL"}


def typed_values(values: Mapping[Any, Any] | None, *, without: Collection[str] = ()) -> dict[str, Any]:
    """Return a section of a message with the type of each value; one that cannot be decoded has one without a name."""
    if isinstance(values, Foreign):
        return {"": typed_value(values)}
    named = {text_of(name): value for name, value in (values or {}).items()}
    return {name: typed_value(value) for name, value in named.items() if name not in without}


def typed_value(value: Any) -> dict[str, Any]:
    """Return a value with the name of its type."""
    match value:
        case Marked(descriptor=None):
            return {"type": value.amqp_type, "value": marked_value(value)}
        case Marked():
            plain = {"type": value.amqp_type, "value": marked_value(value)}
            return {"type": "DESCRIBED", "value": [typed_value(value.descriptor), plain]}
        case list() | dict() if (descriptor := getattr(value, "descriptor", None)) is not None:
            return {"type": "DESCRIBED", "value": [typed_value(descriptor), typed_parts(value)]}
        case list() | dict():
            return typed_parts(value)
        case _:
            return {"type": (named := unmarked_type(value)), "value": unmarked_value(value, named)}


def typed_parts(value: list[Any] | dict[Any, Any]) -> dict[str, Any]:
    """Return a list or a map with the types of its parts."""
    if isinstance(value, list):
        return {"type": "LIST", "value": [typed_value(each) for each in value]}
    return {"type": "MAP", "value": [[typed_value(name), typed_value(each)] for name, each in value.items()]}


def marked_value(value: Marked) -> Any:
    """Return a value whose AMQP type is known, without it; bytes in hexadecimal."""
    match value:
        case RawDecimal():
            return decimal_bits(value).hex()
        case bytes() if value.amqp_type in ("STRING", "SYMBOL"):
            return text_of(value)
        case bytes():
            return value.hex()
        case int():
            return int(value)
        case float():
            return float(value)
        case _:
            return None


def unmarked_type(value: Any) -> str:
    """Return the name of a type of Python's. The SDK gives texts as bytes."""
    match value:
        case datetime():
            return "datetime"
        case UUID():
            return "uuid"
        case bool() | int() | float() | None:
            return type(value).__name__
        case _:
            return "string"


def unmarked_value(value: Any, named: str) -> Any:
    """Return a value of Python's as JSON can hold it."""
    match named:
        case "datetime":
            return written(value)
        case "uuid" | "string":
            return text_of(value)
        case _:
            return value


def plain_value(typed: Typed) -> Any:
    """Return the value as azure-servicebus sends it with its type.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    name, value = typed["type"], typed["value"]
    if name in NUMBERS:
        return {"TYPE": name, "VALUE": value + 0}
    return READERS[name](value) if name in READERS else value


def described(parts: list[Typed]) -> Any:
    """Return a described value of its descriptor and itself."""
    descriptor, value = parts
    return {"TYPE": "DESCRIBED", "VALUE": (plain_value(descriptor), plain_value(value))}


def mapping(pairs: list[list[Typed]]) -> Any:
    """Return a map."""
    return {"TYPE": "MAP", "VALUE": [(plain_value(name), plain_value(value)) for name, value in pairs]}


READERS: Mapping[str, Callable[[Any], Any]] = {
    "DESCRIBED": described,
    "MAP": mapping,
    "LIST": lambda parts: {"TYPE": "LIST", "VALUE": [plain_value(each) for each in parts]},
    "DECIMAL128": lambda raw: {"TYPE": "DECIMAL128", "VALUE": decimal_from(bytes.fromhex(raw))},
    "BINARY": lambda raw: {"TYPE": "BINARY", "VALUE": bytes.fromhex(raw)},
    "STRING": in_whole_characters,
    "SYMBOL": lambda text: {"TYPE": "SYMBOL", "VALUE": text.encode()},
    "datetime": datetime.fromisoformat,
    "uuid": UUID,
}
"""How values are read that JSON does not have."""


def shown_value(typed: Typed) -> Any:
    """Return the value as a header has it."""
    match typed["type"]:
        case "DESCRIBED":
            return shown_value(typed["value"][1])
        case "DECIMAL128":
            return decimal_text(decimal_from(bytes.fromhex(typed["value"])))
        case "BINARY":
            return bytes.fromhex(typed["value"]).decode(errors="replace")
        case "LIST" | "MAP":
            return json.dumps(typed["value"])
        case _:
            return typed["value"]


def types_in(typed: Typed) -> Iterator[str]:
    """Yield the names of the types of a value, and of those that it holds."""
    yield typed["type"]
    match typed["type"]:
        case "DESCRIBED" | "LIST":
            parts = typed["value"]
        case "MAP":
            parts = [each for pair in typed["value"] for each in pair]
        case _:
            parts = []
    for each in parts:
        yield from types_in(each)


def text_of(value: Any) -> str:
    """Return a text that the SDK gives as bytes."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def written(moment: datetime | None) -> str | None:
    """Return the moment as text."""
    return moment.astimezone(UTC).isoformat() if moment else None
