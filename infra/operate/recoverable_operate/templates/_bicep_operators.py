"""Put the operators of a Bicep file into their order: the parser nests all of them to the right, whichever binds closer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

GROUP = "any"
"""Bicep's function that returns its argument; a pair of parentheses is parsed as a call of it, so that it is not lost."""

CLOSENESS: Mapping[str, int] = {
    "coalesce": 1,
    "or": 2,
    "and": 3,
    **dict.fromkeys(("equals", "not_equals", "equals_case_insensitive", "not_equals_case_insensitive"), 4),
    **dict.fromkeys(("greater_than", "greater_than_or_equals", "less_than", "less_than_or_equals"), 5),
    **dict.fromkeys(("add", "substract"), 6),
    **dict.fromkeys(("multiply", "divide", "modulo"), 7),
}
"""How closely an operator of two operands binds ("Bicep operators, Operator precedence and associativity"), by the parser's names."""

ACCESSORS = ("property_accessor", "nested_resource_accessor")


@dataclass(frozen=True, slots=True)
class Sign:
    """An operator in the order of the text, with what belongs to it alone: an index, or both sides of a choice."""

    kind: str
    own: tuple[Any, ...] = ()


@dataclass
class Tokens:
    """Operands and signs in the order of the text, taken one by one."""

    waiting: list[Any] = field(default_factory=list)

    def next_is(self, *kinds: str) -> bool:
        """True if a sign of these kinds comes next."""
        return bool(self.waiting) and isinstance(self.waiting[0], Sign) and self.waiting[0].kind in kinds

    def take(self) -> Any:
        """Return what comes next."""
        return self.waiting.pop(0)


def ordered(node: Any) -> Any:
    """Return a value of the parser with its operators in their order, and without its groups."""
    match node:
        case {"operator": dict()}:
            return choice(Tokens(list(flat(node))))
        case {"function": {"type": name, "parameters": dict(given)}} if name == GROUP:
            return ordered(next(iter(given.values())))
        case dict():
            return {key: ordered(inner) for key, inner in node.items()}
        case list():
            return [ordered(each) for each in node]
        case _:
            return node


def flat(node: Any) -> Iterator[Any]:
    """Yield operands and signs in the order of the text."""
    match node:
        case {"operator": {"type": "conditional", "operands": operands}}:
            yield from flat(operands["condition"])
            yield Sign("conditional", (ordered(operands["true_value"]), ordered(operands["false_value"])))
        case {"operator": {"type": "index_accessor", "operands": operands}}:
            yield from flat(operands["operand_1"])
            yield Sign("index_accessor", (ordered(operands["operand_2"]),))
        case {"operator": {"type": str(kind), "operands": {"operand_1": left, "operand_2": right}}}:
            yield from flat(left)
            yield Sign(kind)
            yield from flat(right)
        case {"operator": {"type": str(kind), "operands": dict(operands)}}:
            yield Sign(kind)
            yield from flat(next(iter(operands.values())))
        case _:
            yield ordered(node)


def choice(tokens: Tokens) -> Any:
    """Return an expression, and the choice that it makes, if it makes one."""
    condition = chain(tokens, 1)
    if not tokens.next_is("conditional"):
        return condition
    true_value, false_value = tokens.take().own
    return made("conditional", condition=condition, true_value=true_value, false_value=false_value)


def chain(tokens: Tokens, least: int) -> Any:
    """Return operands with the operators between them that bind at least so closely."""
    left = signed(tokens)
    while tokens.next_is(*(kind for kind, closeness in CLOSENESS.items() if closeness >= least)):
        kind = tokens.take().kind
        left = made(kind, operand_1=left, operand_2=chain(tokens, CLOSENESS[kind] + 1))
    return left


def signed(tokens: Tokens) -> Any:
    """Return an operand with what stands before it, and with its properties and indices."""
    if tokens.next_is("not", "minus"):
        return made(tokens.take().kind, operand=signed(tokens))
    found = tokens.take()
    while tokens.next_is("index_accessor", *ACCESSORS):
        sign = tokens.take()
        found = made(sign.kind, operand_1=found, operand_2=sign.own[0] if sign.own else tokens.take())
    return found


def made(kind: str, **operands: Any) -> dict[str, Any]:
    """Return an operator as the parser has it."""
    return {"operator": {"type": kind, "operands": operands}}
