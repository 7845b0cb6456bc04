"""Parse the SQL of subscription rules: the condition of a filter, and the statements of an action. Pure.

The grammar is that of "Subscription Rule SQL Filter Syntax" and "Subscription Rule SQL Action Syntax" (Azure Service Bus), without
arithmetic, functions and parameters, which are refused by name when a rule is made.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

TOKEN = re.compile(
    r"""\s*(?:
    (?P<string>'(?:[^']|'')*') | (?P<delimited>\[(?:[^\]]|\]\])*\]) | (?P<quoted>"(?:[^"]|"")*")
    | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?) | (?P<parameter>@\w*) | (?P<name>[^\W\d_]\w*)
    | (?P<operator><>|!=|<=|>=|[=<>(),.;+\-*/%])
    )\s*""",
    re.VERBOSE,
)

KEYWORDS = frozenset(("NOT", "AND", "OR", "IN", "LIKE", "ESCAPE", "IS", "NULL", "EXISTS", "TRUE", "FALSE"))
ARITHMETIC = frozenset("+-*/%")
LARGEST_LONG = 2**63 - 1

COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Constant:
    """A text, a number, a boolean or null."""

    value: Any


@dataclass(frozen=True, slots=True)
class Property:
    """A property of the sender's own, or of the system."""

    name: str
    of_system: bool


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison of two values."""

    operator: str
    left: Value
    right: Value


@dataclass(frozen=True, slots=True)
class In:
    """A look for a value in a list."""

    value: Value
    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Like:
    """A comparison of a text with a pattern."""

    value: Value
    pattern: Value
    escape: Value


@dataclass(frozen=True, slots=True)
class IsNull:
    """True if a property is null, or missing."""

    property: Property


@dataclass(frozen=True, slots=True)
class Exists:
    """True if a message has a property."""

    property: Property


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a condition."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class Both:
    """A condition and another one."""

    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True)
class Either:
    """A condition or another one."""

    left: Condition
    right: Condition


Value = Constant | Property
Test = Compare | In | Like | IsNull | Exists
Condition = Test | Not | Both | Either


@dataclass(frozen=True, slots=True)
class Set:
    """A statement that gives a property a value."""

    property: Property
    value: Any


@dataclass(frozen=True, slots=True)
class Remove:
    """A statement that takes a property away."""

    property: Property


Statement = Set | Remove


def parse_condition(text: str) -> Condition:
    """Return the condition of a filter.

    Raises:
        ValueError: it is not of the grammar, or of a part of it that is refused here.
    """
    parser = _Parser(text)
    try:
        condition = parser.condition()
    except RecursionError:
        raise ValueError(f"the SQL {text[:40]!r}… is nested too deep") from None
    parser.end()
    return condition


def parse_action(text: str) -> tuple[Statement, ...]:
    """Return the statements of an action.

    Raises:
        ValueError: as for a condition.
    """
    parser, statements = _Parser(text), list[Statement]()
    while not parser.at_end():
        statements.append(parser.statement())
    if not statements:
        raise ValueError(f"the action {text!r} is empty; write SET name = 'value' or REMOVE name")
    return tuple(statements)


class _Token(NamedTuple):
    kind: str
    text: str


class _Parser:
    def __init__(self, text: str) -> None:
        self._text, self._tokens, self._at = text, list[_Token](), 0
        end = 0
        while end < len(text.rstrip()):
            if (found := TOKEN.match(text, end)) is None or found.lastgroup is None:
                raise ValueError(f"the SQL {text!r} has {text[end:].strip()[:20]!r}, which is no part of the grammar")
            self._tokens.append(_Token(found.lastgroup, found[found.lastgroup]))
            end = found.end()

    def condition(self) -> Condition:
        return self._needed(self._alternatives())

    def statement(self) -> Statement:
        if self._takes("REMOVE"):
            made: Statement = Remove(self._property())
        elif self._takes("SET"):
            name = self._property()
            self._expect("=")
            made = Set(name, self._constant_alone())
        else:
            raise self._unlike("SET or REMOVE")
        while self._takes(";") or self._takes(","):
            pass
        return made

    def at_end(self) -> bool:
        return self._at >= len(self._tokens)

    def end(self) -> None:
        if not self.at_end():
            raise self._unlike("AND, OR, or the end")

    def _alternatives(self) -> Condition | Value:
        left = self._conjunction()
        while self._takes("OR"):
            left = Either(self._needed(left), self._needed(self._conjunction()))
        return left

    def _conjunction(self) -> Condition | Value:
        left = self._negation()
        while self._takes("AND"):
            left = Both(self._needed(left), self._needed(self._negation()))
        return left

    def _negation(self) -> Condition | Value:
        if self._takes("NOT"):
            return Not(self._needed(self._negation()))
        if self._takes("EXISTS"):
            self._expect("(")
            found = self._property()
            self._expect(")")
            return Exists(found)
        left = self._group() if self._peek() == "(" else self._value()
        if isinstance(left, Constant | Property) and self._peek() in (*COMPARISONS, "IS", "NOT", "IN", "LIKE"):
            return self._comparison(left)
        return left

    def _group(self) -> Condition | Value:
        """Parse what stands in parentheses: a condition, or a value before an operator."""
        self._expect("(")
        found = self._alternatives()
        self._expect(")")
        return found

    def _needed(self, found: Condition | Value) -> Condition:
        if isinstance(found, Constant | Property):
            raise self._unlike("a comparison, IN, LIKE or IS NULL")
        return found

    def _comparison(self, left: Value) -> Condition:
        if self._peek() in COMPARISONS:
            return Compare(self._next().text, left, self._operand())
        if self._takes("IS"):
            negated = self._takes("NOT")
            self._expect("NULL")
            if isinstance(left, Constant):
                raise self._unlike("a property before IS NULL")
            return Not(IsNull(left)) if negated else IsNull(left)
        negated = self._takes("NOT")
        if self._takes("IN"):
            self._expect("(")
            items = [self._operand()]
            while self._takes(","):
                items.append(self._operand())
            self._expect(")")
            condition: Condition = In(left, tuple(items))
        elif self._takes("LIKE"):
            pattern = self._operand()
            condition = Like(left, pattern, self._operand() if self._takes("ESCAPE") else Constant(None))
        else:
            raise self._unlike("a comparison, IN, LIKE or IS NULL")
        return Not(condition) if negated else condition

    def _operand(self) -> Value:
        if self._peek() != "(":
            return self._value()
        found = self._group()
        if not isinstance(found, Constant | Property):
            raise self._unlike("a value, not a condition")
        return self._without_arithmetic(found)

    def _value(self) -> Value:
        if (constant := self._constant()) is not None:
            return self._without_arithmetic(constant)
        return self._without_arithmetic(self._property())

    def _without_arithmetic(self, value: Value) -> Value:
        if self._peek() in ARITHMETIC:
            raise self._refused(f"arithmetic ({self._peek()})")
        return value

    def _constant_alone(self) -> Any:
        if (constant := self._constant()) is None:
            raise self._refused("SET of anything but a constant")
        self._without_arithmetic(constant)
        return constant.value

    def _constant(self) -> Constant | None:
        sign = self._peek() if self._peek() in ("+", "-") else ""
        kind, text = self._token(1 if sign else 0)
        if sign and kind != "number":
            raise self._refused(f"arithmetic ({sign})")
        if kind == "number":
            self._at += 2 if sign else 1
            return Constant(self._number(f"{sign}{text}"))
        if kind == "string":
            self._at += 1
            return Constant(text[1:-1].replace("''", "'"))
        words: Mapping[str, Any] = {"TRUE": True, "FALSE": False, "NULL": None}
        if kind == "name" and text.upper() in words:
            self._at += 1
            return Constant(words[text.upper()])
        return None

    def _number(self, text: str) -> int | float:
        if not re.fullmatch(r"[+-]?\d+", text):
            return float(text)
        if abs(int(text)) > LARGEST_LONG:
            raise ValueError(f"the SQL {self._text!r} has the number {text}; write one of 64 bits")
        return int(text)

    def _property(self) -> Property:
        kind, text = self._token()
        if kind == "name" and text.lower() in ("sys", "user") and self._token(1).text == ".":
            self._at += 2
            return Property(self._name(), text.lower() == "sys")
        return Property(self._name(), of_system=False)

    def _name(self) -> str:
        kind, text = self._token()
        match kind:
            case "delimited":
                found = text[1:-1].replace("]]", "]")
            case "quoted":
                found = text[1:-1].replace('""', '"')
            case "name" if self._token(1).text == "(":
                raise self._refused(f"the function {text}()")
            case "name" if text.upper() not in KEYWORDS:
                found = text
            case "parameter":
                raise self._refused(f"the parameter {text}")
            case _:
                raise self._unlike("a property or a constant")
        self._at += 1
        return found

    def _token(self, ahead: int = 0) -> _Token:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else _Token("end", "")

    def _peek(self) -> str:
        kind, text = self._token()
        return text if kind == "operator" else text.upper() if kind == "name" else ""

    def _next(self) -> _Token:
        found = self._token()
        self._at += 1
        return found

    def _takes(self, text: str) -> bool:
        if self._peek() != text:
            return False
        self._at += 1
        return True

    def _expect(self, text: str) -> None:
        if not self._takes(text):
            raise self._unlike(text)

    def _unlike(self, wanted: str) -> ValueError:
        found = self._token().text or "its end"
        return ValueError(f"the SQL {self._text!r} has {found!r} where the grammar has {wanted}")

    def _refused(self, what: str) -> ValueError:
        return ValueError(
            f"the SQL {self._text!r} has {what}, which is not served here; write properties and constants"
        )
