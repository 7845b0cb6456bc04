"""Evaluate DynamoDB's condition and update expressions, as far as the store writes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

Item = Mapping[str, Any]
Said = Mapping[str, Any]
Test = Callable[[Item, Said, Said], bool]

TOKEN = re.compile(r"\s*([#:\w]+|<=|>=|<>|[=<>(),])")
COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda one, other: one == other,
    "<>": lambda one, other: one != other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


def holds(expression: str | None, item: Item, request: Mapping[str, Any]) -> bool:
    """True if a condition holds for an item; an empty one always holds."""
    if not expression:
        return True
    names = request.get("ExpressionAttributeNames", {})
    return condition(expression)(item, request.get("ExpressionAttributeValues", {}), names)


@cache
def condition(expression: str) -> Test:
    """Parse a condition."""
    tokens = iter([*TOKEN.findall(expression), ""])
    test, rest = either(next(tokens), tokens)
    assert not rest, expression
    return test


def either(token: str, tokens: Iterator[str]) -> tuple[Test, str]:
    """Parse tests joined by OR; return them and the next token."""
    test, token = both(token, tokens)
    while token == "OR":
        other, token = both(next(tokens), tokens)
        test = any_of(test, other)
    return test, token


def both(token: str, tokens: Iterator[str]) -> tuple[Test, str]:
    """Parse tests joined by AND; return them and the next token."""
    test, token = single(token, tokens)
    while token == "AND":
        other, token = single(next(tokens), tokens)
        test = all_of(test, other)
    return test, token


def single(token: str, tokens: Iterator[str]) -> tuple[Test, str]:
    """Parse one test: in parentheses, a function's, or a comparison."""
    if token == "(":
        test, closing = either(next(tokens), tokens)
        assert closing == ")"
        return test, next(tokens)
    follows = next(tokens)
    if follows == "(":
        return function(token, tokens), next(tokens)
    return compared(follows, token, next(tokens)), next(tokens)


def function(name: str, tokens: Iterator[str]) -> Test:
    """Return the test of one of DynamoDB's functions."""
    of, following = next(tokens), next(tokens)
    if name == "begins_with":
        start, closing = next(tokens), next(tokens)
        assert (following, closing) == (",", ")")
        return lambda item, values, names: str(of_kind(item[of], "S")).startswith(values[start]["S"])
    assert following == ")"
    there = name == "attribute_exists"
    assert there or name == "attribute_not_exists", name
    return lambda item, values, names: (names.get(of, of) in item) is there


def compared(sign: str, one: str, other: str) -> Test:
    """Return a comparison; it does not hold where a side is missing, or of another type."""

    def test(item: Item, values: Said, names: Said) -> bool:
        left, right = (values[side] if side[0] == ":" else item.get(names.get(side, side), {}) for side in (one, other))
        return bool(left) and left.keys() == right.keys() and COMPARED[sign](plain(left), plain(right))

    return test


def any_of(one: Test, other: Test) -> Test:
    """Return a test that holds if either does."""
    return lambda *given: one(*given) or other(*given)


def all_of(one: Test, other: Test) -> Test:
    """Return a test that holds if both do."""
    return lambda *given: one(*given) and other(*given)


def plain(value: Mapping[str, str]) -> int | str:
    """Return a number or a text from DynamoDB's form."""
    return int(value["N"]) if "N" in value else value["S"]


def of_kind(value: Mapping[str, str], kind: str) -> str:
    """Return the value if it is of that type; otherwise an empty text."""
    return value.get(kind, "")


def updated(item: Item, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the item after an update expression."""
    values, names = request.get("ExpressionAttributeValues", {}), request.get("ExpressionAttributeNames", {})
    changed = dict(item)
    _, *clauses = re.split(r"\b(SET|REMOVE|ADD)\b", request["UpdateExpression"])
    for verb, clause in zip(clauses[::2], clauses[1::2], strict=True):
        for change in clause.split(","):
            name, *value = change.replace("=", " ").split()
            name = names.get(name, name)
            if verb == "REMOVE":
                changed.pop(name, None)
            elif verb == "SET":
                changed[name] = values[value[0]]
            else:
                number = int(item.get(name, {"N": "0"})["N"]) + int(values[value[0]]["N"])
                changed[name] = {"N": str(number)}
    return changed
