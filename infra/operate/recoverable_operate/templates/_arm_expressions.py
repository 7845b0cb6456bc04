"""Parse an expression of an ARM template, which is the text between `[` and `]`, into a tree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from recoverable_operate.templates._document import TemplateError

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>-?\d+)|(?P<call>[A-Za-z_$][\w$.]*)\s*\(|(?P<name>[A-Za-z_$][\w$]*)|(?P<mark>[()\[\],.]))"
)


@dataclass(frozen=True, slots=True)
class Literal:
    """A text or a number."""

    value: str | int


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function, whose name is in small letters: names are compared without case."""

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Access:
    """A property or an item of a value: `of.key` or `of[key]`."""

    of: Expression
    key: Expression


Expression: TypeAlias = Literal | Call | Access
_Tokens: TypeAlias = list[tuple[str, str]]


@lru_cache(maxsize=10_000)
def parse_expression(text: str) -> Expression:
    """Return the tree of an expression.

    Raises:
        TemplateError: it is none.
    """
    tokens: _Tokens = []
    at, end = 0, len(text.rstrip())
    while at < end:
        if (match := _TOKEN.match(text, at)) is None:
            raise TemplateError(f"the expression {text:.60} cannot be parsed at {text[at : at + 20]!r}")
        tokens.append((str(match.lastgroup), str(match[str(match.lastgroup)])))
        at = match.end()
    tokens.reverse()  # the next one is the last
    try:
        found = _operand(tokens)
    except IndexError:
        raise TemplateError(f"the expression {text:.60} ends too early") from None
    if tokens:
        raise TemplateError(f"the expression {text:.60} goes on with {tokens[-1][1]!r} where it should end")
    return found


def _operand(tokens: _Tokens) -> Expression:
    """Take an operand, with the properties that are read of it."""
    kind, text = tokens.pop()
    match kind:
        case "text":
            found: Expression = Literal(text[1:-1].replace("''", "'"))
        case "number":
            found = Literal(int(text))
        case "call":
            found = Call(text.lower(), _arguments(tokens))
        case _:
            raise TemplateError(f"an expression has {text!r} where a value should be")
    while tokens and tokens[-1][1] in (".", "["):
        if tokens.pop()[1] == ".":
            found = Access(found, Literal(tokens.pop()[1]))
        else:
            found = Access(found, _operand(tokens))
            _expect("]", tokens)
    return found


def _arguments(tokens: _Tokens) -> tuple[Expression, ...]:
    """Take the arguments of a call, up to its bracket."""
    found: list[Expression] = []
    while tokens[-1][1] != ")":
        found.append(_operand(tokens))
        if tokens[-1][1] != ")":
            _expect(",", tokens)
    tokens.pop()
    return tuple(found)


def _expect(mark: str, tokens: _Tokens) -> None:
    if (came := tokens.pop()[1]) != mark:
        raise TemplateError(f"an expression has {came!r} where {mark!r} should be")
