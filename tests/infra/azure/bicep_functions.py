"""The functions and operators of Bicep that main.bicep and queue.bicep use."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any


class Refused(Exception):
    """The template refuses its parameters, by its function `fail`."""


def fail(text: str) -> None:
    """End the deployment before it begins."""
    raise Refused(text)


TWO_SIDED: Mapping[str, Callable[[Any, Any], Any]] = {
    "and": lambda first, second: first and second,
    "equals": operator.eq,
    "greater_than": operator.gt,
    "divide": operator.floordiv,
}
"""Operators of two operands, by the parser's names."""

FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "concat": lambda *parts: [each for part in parts for each in part],
    "contains": operator.contains,
    "empty": operator.not_,
    "fail": fail,
    "first": operator.itemgetter(0),
    "last": operator.itemgetter(-1),
    "length": len,
    "range": lambda first, count: list(range(first, first + count)),
    "string": str,
    "subscription_resource_id": lambda *parts: "/".join(parts),
    "substring": lambda text, first, count: text[first : first + count],
    "take": lambda text, count: text[:count],
    "to_lower": str.lower,
}
"""Functions whose result is known before the deployment, by the parser's names."""


def called(function: str, arguments: Sequence[Any]) -> Any:
    """Return the result of a function; for one that only Azure can call, return the call as it is written."""
    if function in FUNCTIONS:
        return FUNCTIONS[function](*arguments)
    return f"<{function}({', '.join(map(str, arguments))})>"
