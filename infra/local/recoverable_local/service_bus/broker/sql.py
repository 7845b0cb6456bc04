"""Evaluate the conditions of subscription rules by the tables of "Subscription Rule SQL Filter Syntax" (Azure Service Bus). Pure.

A property that a message does not have is unknown, and so is a comparison with it, or with null. Only what is true matches.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, assert_never

from recoverable_local.service_bus.broker.sql_syntax import (
    COMPARISONS,
    Both,
    Compare,
    Condition,
    Constant,
    Either,
    Exists,
    In,
    IsNull,
    Like,
    Not,
    Test,
    Value,
)


class EvaluationError(Exception):
    """Raised when a condition has no value for a message, which Service Bus calls a filter evaluation exception."""


class Unknown:
    """The value of a property that a message does not have."""


UNKNOWN = Unknown()


class Properties(NamedTuple):
    """The properties of a message that a condition sees, by names in lower case.

    Args:
        own: the sender's own properties.
        system: the system's; null where a message has none.
    """

    own: Mapping[str, Any]
    system: Mapping[str, Any]


def is_true(condition: Condition, message: Properties) -> bool:
    """True if a message matches: unknown is not true.

    Raises:
        EvaluationError: the condition has no value for this message.
    """
    return evaluate(condition, message) is True


def evaluate(condition: Condition, message: Properties) -> bool | None:
    """Return whether a condition holds; None for unknown.

    Raises:
        EvaluationError: the condition has no value for this message.
    """
    match condition:
        case Not(inner):
            return None if (found := evaluate(inner, message)) is None else not found
        case Both(left, right):
            return both(evaluate(left, message), evaluate(right, message))
        case Either(left, right):
            return either(evaluate(left, message), evaluate(right, message))
        case other:
            return tested(other, message)


def tested(test: Test, message: Properties) -> bool | None:
    """Return whether a test of a property holds; None for unknown."""
    match test:
        case Compare(name, left, right):
            return compare(name, value_of(left, message), value_of(right, message))
        case In(value, items):
            return is_in(value_of(value, message), [value_of(each, message) for each in items])
        case Like(value, pattern, escape):
            return is_like(value_of(value, message), value_of(pattern, message), value_of(escape, message))
        case IsNull(named):
            return value_of(named, message) in (None, UNKNOWN)
        case Exists(named):
            return value_of(named, message) is not UNKNOWN
        case other:
            assert_never(other)


def both(left: bool | None, right: bool | None) -> bool | None:  # noqa: FBT001  # the values themselves, no flags
    """Return AND by the page's table."""
    if False in (left, right):
        return False
    return None if None in (left, right) else True


def either(left: bool | None, right: bool | None) -> bool | None:  # noqa: FBT001  # the values themselves, no flags
    """Return OR by the page's table."""
    if True in (left, right):
        return True
    return None if None in (left, right) else False


def value_of(value: Value, message: Properties) -> Any:
    """Return the value of a constant or a property; UNKNOWN for one that the message does not have.

    Raises:
        EvaluationError: there is no such property of the system.
    """
    if isinstance(value, Constant):
        return value.value
    name = value.name.lower()
    if not value.of_system:
        return message.own.get(name, UNKNOWN)
    if name not in message.system:
        raise EvaluationError(f"there is no system property sys.{value.name}")
    return message.system[name]


def compare(name: str, left: Any, right: Any) -> bool | None:
    """Return a comparison; unknown where a side is unknown, or null.

    Raises:
        EvaluationError: C# has no such comparison of their types.
    """
    if {left, right} & {None, UNKNOWN}:
        return None
    equality = name in ("=", "<>", "!=")
    if not (kind(left) == kind(right) and (equality or kind(left) is not bool)):
        raise EvaluationError(f"{type(left).__name__} and {type(right).__name__} cannot be compared by {name}")
    return COMPARISONS[name](left, right)


def kind(value: Any) -> type:
    """Return the type with which a value can be compared: all numbers are of one."""
    return float if isinstance(value, int | float) and not isinstance(value, bool) else type(value)


def is_in(value: Any, items: list[Any]) -> bool | None:
    """Return whether a value is one of a list; unknown where the value is."""
    if value is UNKNOWN or value is None:
        return None
    return any(kind(value) == kind(each) and value == each for each in items)


def is_like(value: Any, pattern: Any, escape: Any) -> bool | None:
    """Return whether a text is of a pattern, with % for any characters and _ for one; unknown where one of them is.

    Raises:
        EvaluationError: one of them is no text, or the escape is no single character.
    """
    if UNKNOWN in (value, pattern, escape) or value is None:
        return None
    if not isinstance(value, str) or not isinstance(pattern, str) or not (escape is None or is_character(escape)):
        raise EvaluationError("LIKE compares texts, and ESCAPE is one character")
    parts, characters = list[str](), iter(pattern)
    for each in characters:
        if each == escape:
            parts.append(re.escape(next(characters, "")))
        else:
            parts.append({"%": ".*", "_": "."}.get(each) or re.escape(each))
    return re.fullmatch("".join(parts), value, re.DOTALL) is not None


def is_character(value: Any) -> bool:
    """True if it is a text of one character."""
    return isinstance(value, str) and len(value) == 1
