"""Work out the values of a Bicep file: parameters, variables, texts, and those functions whose result does not depend on Azure."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from recoverable_operate.templates._document import TemplateError

INSIDE = re.compile(r"\$\{([^}]*)\}")
PATH = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")


@dataclass(frozen=True, slots=True)
class File:
    """A Bicep file as it was parsed.

    Args:
        parsed: what the parser made of it.
        given: the values of parameters.
        hidden: names without a value, such as the variable of a loop.
    """

    parsed: Mapping[str, Any]
    given: Mapping[str, Any] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()

    def section(self, name: str) -> Mapping[str, Any]:
        """Return what the file declares of one kind, by its names."""
        found: Mapping[str, Any] = self.parsed.get(name) or {}
        return found


def value(node: Any, file: File) -> Any:
    """Return the value of an expression.

    Raises:
        TemplateError: it is known in Azure alone, or has a form that is not read here.
    """
    match node:
        case {"operator": {"type": str(kind), "operands": dict(operands)}}:
            return operated(kind, operands, file)
        case {"function": {"type": str(name), "parameters": dict(arguments)}}:
            return call_function(name, [value(each, file) for each in arguments.values() if each is not None])
        case list():
            return [value(each, file) for each in node]
        case dict():
            return {str(key).strip("'"): value(inner, file) for key, inner in node.items()}
        case str():
            return named(node, file)
        case _:
            return node


def operated(kind: str, operands: Mapping[str, Any], file: File) -> Any:
    """Return the result of an operator."""
    match kind:
        case "conditional":
            return value(operands["true_value" if value(operands["condition"], file) else "false_value"], file)
        case "not":
            return not value(operands["bool_value"], file)
        case "property_accessor":
            return attribute(names_of({"operator": {"type": kind, "operands": operands}}), file)
        case "and":
            return bool(value(operands["operand_1"], file) and value(operands["operand_2"], file))
        case "or":
            return bool(value(operands["operand_1"], file) or value(operands["operand_2"], file))
        case _ if kind in OPERATORS:
            return applied(
                kind, OPERATORS[kind], value(operands["operand_1"], file), value(operands["operand_2"], file)
            )
        case _:
            raise TemplateError(f"the operator {kind} is not read here")


OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "equals": operator.eq,
    "not_equals": operator.ne,
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
"""Operators of two operands, by the parser's names."""

FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "bool": lambda text: str(text).lower() == "true",
    "concat": lambda first, *others: sum(others, first) if isinstance(first, list) else "".join((first, *others)),
    "contains": operator.contains,
    "empty": operator.not_,
    "first": operator.itemgetter(0),
    "int": int,
    "last": operator.itemgetter(-1),
    "length": len,
    "resource_id": lambda *parts: "/".join(parts),
    "string": str,
    "subscription_resource_id": lambda *parts: "/".join(parts),
    "to_lower": str.lower,
    "to_upper": str.upper,
}
"""Functions whose result is known before the deployment, by the parser's names."""


def call_function(name: str, arguments: list[Any]) -> Any:
    """Return the result of a function."""
    if name not in FUNCTIONS:
        raise TemplateError(f"the function {name} is known in Azure alone, or not read here")
    return applied(name, FUNCTIONS[name], *arguments)


def applied(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a function or an operator; what it cannot be used with is said."""
    try:
        return function(*arguments)
    except (TypeError, ValueError, LookupError, AttributeError, ZeroDivisionError) as error:
        raise TemplateError(f"{name} cannot be used so: {error}") from error


def named(text: str, file: File) -> Any:
    """Return the value of that name, else the text itself with what stands in it: the parser does not tell one from the other."""
    if text in file.hidden:
        raise TemplateError(f"{text} is the variable of a loop")
    if text in file.section("parameters"):
        return parameter(text, file)
    if text in file.section("variables"):
        return value(file.section("variables")[text].get("value"), file)
    return INSIDE.sub(lambda found: filled(found[1].strip(), file), text)


def parameter(name: str, file: File) -> Any:
    """Return the value of a parameter: as given, else its default."""
    declared = file.section("parameters")[name]
    if name in file.given:
        return file.given[name]
    if declared.get("default") is None:
        raise TemplateError(f"the parameter {name} has no value here; give it with --parameter {name}=VALUE")
    return value(declared["default"], file)


def filled(expression: str, file: File) -> str:
    """Return what stands inside a text for an expression."""
    if PATH.fullmatch(expression) is None:
        raise TemplateError(f"${{{expression}}} in a text is not read here")
    first, *others = expression.split(".")
    return str(attribute([first, *others], file) if others else named(first, file))


def attribute(names: list[str], file: File) -> Any:
    """Return the name of a resource, the only property of one that is known; or a property of an object."""
    first, *others = names
    if first in file.section("resources"):
        if others == ["name"]:
            return value(configuration(file.section("resources")[first]).get("name"), file)
        raise TemplateError(f"{'.'.join(names)} is known in Azure alone")
    found = named(first, file)
    for name in others:
        if not isinstance(found, dict) or name not in found:
            raise TemplateError(f"{'.'.join(names)} is not read here")
        found = found[name]
    return found


def names_of(node: Any) -> list[str]:
    """Return the names of `a.b.c`, which the parser nests to the right."""
    match node:
        case {"operator": {"type": "property_accessor", "operands": {"operand_1": first, "operand_2": rest}}}:
            return [*names_of(first), *names_of(rest)]
        case str():
            return [node]
        case _:
            raise TemplateError("a property of what a function returns is known in Azure alone")


def configuration(resource: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a resource's configuration, whether it stands behind a condition or in a loop or not."""
    found = resource.get("config")
    while isinstance(found, dict) and "config" in found and ("condition" in found or "loop_type" in found):
        found = found["config"]
    return found if isinstance(found, dict) else {}
