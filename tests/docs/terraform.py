"""Read Terraform's language: evaluate locals, arithmetic and jsonencode, and keep references between resources. For the pages on Terraform."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import hcl2

_META = {"__is_block__", "__comments__", "__inline_comments__"}
_REFERENCE = re.compile(r"(?:data\.)?[a-z]\w*\.\w+\.\w+(?:\[\d+\]\.\w+)*")
_OPERATORS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


@dataclass(frozen=True, slots=True)
class Reference:
    """An attribute of another resource, such as `aws_sqs_queue.orders.arn`."""

    kind: str
    name: str
    attribute: str


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource: its type, its name in the file, and its arguments, evaluated; a block is a list of mappings."""

    kind: str
    name: str
    arguments: Mapping[str, Any]


def resources(text: str) -> list[Resource]:
    """Return the resources of a file, in their order."""
    document = hcl2.loads(text)
    values = {name: value for block in document.get("locals", []) for name, value in block.items() if name not in _META}
    return [
        Resource(_unquoted(kind), _unquoted(name), _evaluated(arguments, values))
        for block in document["resource"]
        for kind, named in block.items()
        for name, arguments in named.items()
    ]


def only(found: list[Resource], kind: str) -> Resource:
    """Return the one resource of a type."""
    [resource] = [each for each in found if each.kind == kind]
    return resource


def _evaluated(value: Any, values: Mapping[str, Any]) -> Any:
    match value:
        case dict():
            return {_unquoted(key): _evaluated(inner, values) for key, inner in value.items() if key not in _META}
        case list():
            return [_evaluated(inner, values) for inner in value]
        case str() if value.startswith('"'):
            return re.sub(r"\$\{(.+?)\}", lambda match: str(_expression(match[1], values)), _unquoted(value))
        case str() if value.startswith("${"):
            return _expression(value[2:-1], values)
        case _:
            return value


def _expression(text: str, values: Mapping[str, Any]) -> Any:
    if text.startswith("jsonencode("):
        return _evaluated(hcl2.loads(f"value = {text[len('jsonencode(') : -1]}\n")["value"], values)
    if text.startswith(("local.", "var.")) and re.fullmatch(r"[a-z]+\.\w+", text):
        return _evaluated(values[text.partition(".")[2]], values) if text.startswith("local.") else text
    if _REFERENCE.fullmatch(text):
        kind, name, attribute = text.split(".", 2)
        return Reference(kind, name, attribute)
    return _arithmetic(ast.parse(text, mode="eval").body, values)


def _arithmetic(node: ast.expr, values: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value):
            return value
        case ast.BinOp(left, kind, right):
            return _OPERATORS[type(kind)](_arithmetic(left, values), _arithmetic(right, values))
        case ast.Attribute(ast.Name("local"), name):
            return _evaluated(values[name], values)
        case _:
            raise ValueError(f"{ast.unparse(node)} is not evaluated here")


def _unquoted(text: str) -> str:
    return text[1:-1] if text.startswith('"') else text
