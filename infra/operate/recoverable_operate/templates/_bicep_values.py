"""Work out the values of a Bicep file: parameters, variables, texts, loops, and those functions whose result does not depend on Azure."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from recoverable_operate.templates._bicep_operators import ordered
from recoverable_operate.templates._bicep_text import MARK, marked, pieces, unescaped
from recoverable_operate.templates._document import TemplateError

if TYPE_CHECKING:
    from pycep import BicepParser

MOST_NESTED = 100
"""How deep values may refer to one another."""

LONGEST_RANGE = 10_000
"""The most numbers of `range` (Bicep, "range")."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A value that only Azure knows: a property of the resource of this symbolic name; of no name if it is another."""

    name: str


@dataclass(frozen=True, slots=True)
class File:
    """A Bicep file as it was parsed.

    Args:
        parsed: what the parser made of it.
        given: the values of parameters.
        bound: the values of names that hold inside of an expression, such as the variable of a loop.
        depth: how many values are being worked out.
    """

    parsed: Mapping[str, Any]
    given: Mapping[str, Any] = field(default_factory=dict)
    bound: Mapping[str, Any] = field(default_factory=dict)
    depth: int = 0

    def section(self, name: str) -> Mapping[str, Any]:
        """Return what the file declares of one kind, by its names."""
        found: Mapping[str, Any] = self.parsed.get(name) or {}
        return found

    def with_bound(self, names: Mapping[str, Any]) -> File:
        """Return the file with these values for names."""
        return replace(self, bound={**self.bound, **names})


@cache
def parser() -> BicepParser:
    """Return the parser, which takes a while to load its grammar."""
    from pycep import BicepParser  # noqa: PLC0415  # for those who look at Bicep

    return BicepParser()


def parse(text: str) -> Mapping[str, Any]:
    """Return what the parser makes of the text of a file.

    Raises:
        TemplateError: it is no Bicep, or has a form that the parser does not know.
    """
    read = parser()
    try:
        found: Mapping[str, Any] = ordered(read.parse(text=marked(text)))
    except Exception as error:
        line = getattr(error, "line", None)
        raise TemplateError(f"the parser does not understand it{f' from line {line}' if line else ''}") from error
    return found


def value(node: Any, file: File) -> Any:  # noqa: PLR0911  # one for each form of a node
    """Return the value of an expression.

    Raises:
        TemplateError: it is known in Azure alone, or has a form that is not read here.
    """
    if file.depth > MOST_NESTED:
        raise TemplateError("its values refer to one another without end")
    inside = replace(file, depth=file.depth + 1)
    match node:
        case {"operator": {"type": str(kind), "operands": dict(operands)}}:
            return operated(kind, operands, inside)
        case {"function": {"type": str(name)}}:
            return call_function(name, node["function"].get("parameters") or {}, inside)
        case {"loop_type": {"detail": dict()}, "config": body}:
            return [value(body, each) for each in rounds(node, inside)]
        case list():
            return [value(each, inside) for each in node]
        case dict():
            return {text_of_key(key, inside): value(inner, inside) for key, inner in node.items()}
        case str():
            return literal(node[1:], inside) if node.startswith(MARK) else named(node, inside)
        case _:
            return node


def text_of_key(key: str, file: File) -> str:
    """Return the name of a property, which may be written as a text."""
    written = key.strip("'")
    return literal(written[1:], file) if written.startswith(MARK) else written


def literal(text: str, file: File) -> str:
    """Return a text with the values of the expressions in it."""
    return "".join(
        as_text(value(expression(part[2:-1]), file)) if is_code else unescaped(part) for part, is_code in pieces(text)
    )


def as_text(found: Any) -> str:
    """Return a value as it stands in a text."""
    return str(found).lower() if isinstance(found, bool) else "" if found is None else str(found)


@cache
def expression(text: str) -> Any:
    """Return an expression of a text as it is parsed; it has its marks already."""
    try:
        return ordered(parser().parse(text=f"var it = {text}\n")["variables"]["it"]["value"])
    except Exception as error:
        raise TemplateError(f"${{{text.replace(MARK, '')}}} in a text is not read here") from error


def rounds(loop: Mapping[str, Any], file: File) -> Iterator[File]:
    """Yield the file as it looks in each round of a loop.

    Raises:
        TemplateError: it is not known how many there are.
    """
    detail = loop["loop_type"]["detail"]
    items = value(detail.get("array_name"), file)
    if not isinstance(items, list):
        raise TemplateError("a loop runs over what is no list")
    for index, item in enumerate(items):
        bound = {str(detail.get("item_name")): item, str(detail.get("index_name")): index}
        condition = loop.get("condition")
        there = file.with_bound(bound)
        if condition is None or value(condition, there):
            yield there


def operated(kind: str, operands: Mapping[str, Any], file: File) -> Any:
    """Return the result of an operator."""
    match kind:
        case "conditional":
            return value(operands["true_value" if value(operands["condition"], file) else "false_value"], file)
        case "property_accessor" | "nested_resource_accessor":
            return attribute(operands["operand_1"], str(operands["operand_2"]), file)
        case "index_accessor":
            of, index = value(operands["operand_1"], file), value(operands["operand_2"], file)
            return applied("[]", operator.getitem, of, index)
        case "and" | "or":
            first = bool(value(operands["operand_1"], file))
            return bool(value(operands["operand_2"], file)) if first is (kind == "and") else first
        case "coalesce":
            first = value(operands["operand_1"], file)
            return value(operands["operand_2"], file) if first is None else first
        case _ if kind in OPERATORS:
            return applied(kind, OPERATORS[kind], *(value(each, file) for each in operands.values()))
        case _:
            raise TemplateError(f"the operator {kind} is not read here")


OPERATORS: Mapping[str, Callable[..., Any]] = {
    "not": operator.not_,
    "minus": operator.neg,
    "equals": operator.eq,
    "equals_case_insensitive": lambda one, other: str(one).lower() == str(other).lower(),
    "not_equals": operator.ne,
    "not_equals_case_insensitive": lambda one, other: str(one).lower() != str(other).lower(),
    "greater_than": operator.gt,
    "greater_than_or_equals": operator.ge,
    "less_than": operator.lt,
    "less_than_or_equals": operator.le,
    "add": operator.add,
    "substract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.floordiv,
    "modulo": operator.mod,
}
"""Operators that take values, by the parser's names."""


def numbers(start: int, count: int) -> list[int]:
    """Return so many whole numbers."""
    if count > LONGEST_RANGE:
        raise ValueError(f"{count} are too many")
    return list(range(start, start + count))


def union(first: Any, *others: Any) -> Any:
    """Return several lists, or several objects, as one; what stands later wins."""
    if isinstance(first, list):
        every = [first, *others]
        return [
            item
            for place, each in enumerate(every)
            for item in each
            if not any(item in before for before in every[:place])
        ]
    return {key: inner for each in (first, *others) for key, inner in each.items()}


def joined(first: Any, *others: Any) -> Any:
    """Return lists or texts behind one another."""
    return sum(others, first) if isinstance(first, list) else "".join(map(as_text, (first, *others)))


def cut(text: str, start: int, length: int | None = None) -> str:
    """Return a part of a text."""
    return text[start:] if length is None else text[start : start + length]


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "array": lambda found: found if isinstance(found, list) else [found],
    "bool": lambda text: str(text).lower() == "true",
    "concat": joined,
    "contains": operator.contains,
    "empty": operator.not_,
    "ends_with": lambda text, end: text.lower().endswith(end.lower()),
    "filter": lambda items, keep: [each for each in items if keep(each)],
    "first": operator.itemgetter(0),
    "flatten": lambda lists: [item for each in lists for item in each],
    "format": lambda form, *parts: form.format(*map(as_text, parts)),
    "index_of": lambda text, part: text.lower().find(part.lower()),
    "int": int,
    "items": lambda found: [{"key": key, "value": inner} for key, inner in sorted(found.items())],
    "join": lambda items, between: between.join(map(as_text, items)),
    "last": operator.itemgetter(-1),
    "length": len,
    "map": lambda items, make: [make(each) for each in items],
    "max": lambda *found: max(found[0] if isinstance(found[0], list) else found),
    "min": lambda *found: min(found[0] if isinstance(found[0], list) else found),
    "object_keys": sorted,
    "range": numbers,
    "replace": str.replace,
    "resource_id": lambda *parts: "/".join(parts),
    "skip": lambda found, count: found[max(count, 0) :],
    "split": lambda text, between: text.split(between),
    "starts_with": lambda text, start: text.lower().startswith(start.lower()),
    "string": as_text,
    "subscription_resource_id": lambda *parts: "/".join(parts),
    "substring": cut,
    "take": lambda found, count: found[: max(count, 0)],
    "to_lower": str.lower,
    "to_upper": str.upper,
    "trim": str.strip,
    "union": union,
}
"""Functions whose result is known before the deployment, by the parser's names."""


def call_function(name: str, arguments: Mapping[str, Any], file: File) -> Any:
    """Return the result of a function: one of Bicep's, or one of the file's own."""
    if name not in FUNCTIONS and name not in file.section("functions"):
        raise TemplateError(f"the function {name} is known in Azure alone, or not read here")
    given = [argument(each, file) for each in arguments.values() if each is not None]
    if name in FUNCTIONS:
        return applied(name, FUNCTIONS[name], *given)
    own = file.section("functions")[name]
    return value(own.get("expression"), file.with_bound(dict(zip(own.get("args") or {}, given, strict=False))))


def argument(node: Any, file: File) -> Any:
    """Return the value of an argument; a function for a lambda expression."""
    match node:
        case {"type": "lambda_expression", "detail": {"var_1": str(name), "expression": body}}:
            return lambda item: value(body, file.with_bound({name: item}))
        case _:
            return value(node, file)


def applied(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a function or an operator; what it cannot be used with is said."""
    try:
        return function(*arguments)
    except TemplateError:
        raise
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        raise TemplateError(f"{name} cannot be used so: {error}") from error


def named(name: str, file: File) -> Any:
    """Return the value of a name: of a loop's variable, a parameter or a variable."""
    if name in file.bound:
        found = file.bound[name]
        if isinstance(found, Symbol):
            raise TemplateError(f"{name} is the variable of a loop")
        return found
    if name in file.section("parameters"):
        return parameter(name, file)
    if name in file.section("variables"):
        return value(file.section("variables")[name].get("value"), replace(file, bound={}))
    raise TemplateError(f"{name} is known in Azure alone, or not read here")


def parameter(name: str, file: File) -> Any:
    """Return the value of a parameter: as given, else its default."""
    declared = file.section("parameters")[name]
    if isinstance(found := file.given.get(name), Symbol):
        raise TemplateError(f"the value of the parameter {name} is known in Azure alone")
    if name in file.given:
        return found
    if declared.get("default") is None:
        raise TemplateError(f"the parameter {name} has no value here; give it with --parameter {name}=VALUE")
    return value(declared["default"], replace(file, bound={}))


def attribute(of: Any, name: str, file: File) -> Any:
    """Return the name of a resource, the only property of one that is known; or a property of an object."""
    symbol = of if isinstance(of, str) and of not in file.bound else ""
    if symbol in file.section("resources"):
        if name == "name":
            return value(configuration(file.section("resources")[symbol]).get("name"), file)
        raise TemplateError(f"{symbol}.{name} is known in Azure alone")
    if symbol in file.section("modules"):
        raise TemplateError(f"{symbol}.{name} is of a module, and not read here")
    found = value(of, file)
    if not isinstance(found, dict) or name not in found:
        raise TemplateError(f"there is no {name} in what has a value here")
    return found[name]


def symbol_of(node: Any) -> str | None:
    """Return the name at the beginning of `a`, `a.b` or `a.b.c`; None for any other expression."""
    match node:
        case {"operator": {"type": "property_accessor", "operands": {"operand_1": first}}}:
            return symbol_of(first)
        case str() if not node.startswith(MARK):
            return node
        case _:
            return None


def configuration(resource: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a resource's configuration, whether it stands behind a condition or in a loop or not."""
    found = resource.get("config")
    while isinstance(found, dict) and "config" in found and ("condition" in found or "loop_type" in found):
        found = found["config"]
    return found if isinstance(found, dict) else {}
