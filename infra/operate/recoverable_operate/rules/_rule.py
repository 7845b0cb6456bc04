"""Keep apart what a rule finds, what it does not find, and what it could not look at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Unknown:
    """Stands for a value that could not be read; `why` says why, in one sentence without a full stop."""

    why: str


@dataclass(frozen=True, slots=True)
class Refused(Unknown):
    """Stands for a value that the cloud refuses; `why` says what it is, and behind a semicolon what to write instead."""


class NotUnderstood(Exception):
    """Raised in a rule that needs a value that could not be read; its text says why it could not."""


def known(value: T | Unknown) -> T:
    """Return the value.

    Raises:
        NotUnderstood: it could not be read.
    """
    if isinstance(value, Unknown):
        raise NotUnderstood(value.why)
    return value


class Described(Protocol):
    """A description of one function and its queue."""

    @property
    def subject(self) -> str:
        """The name by which a report counts it."""

    @property
    def unread(self) -> str:
        """Why it is not known whether it uses this package, and so no rule is applied; empty where it does."""


D = TypeVar("D", bound=Described)


@dataclass(frozen=True, slots=True)
class Problem:
    """The finding of a rule.

    Args:
        where: the resource or setting, as the template or the cloud names it.
        wrong: what is wrong, as a clause that begins with its subject.
        causes: what follows from it, as a clause.
        write: what to write instead, as an imperative without its first capital.
    """

    where: str
    wrong: str
    causes: str
    write: str

    def __str__(self) -> str:
        return f"{self.wrong}, so {self.causes}; {self.write}"


@dataclass(frozen=True, slots=True)
class Check:
    """A rule applied to one description.

    Args:
        rule: the rule's name.
        subject: the description's.
        problems: what was found.
        not_checked: why not all was looked at; empty where all was.
    """

    rule: str
    subject: str
    problems: tuple[Problem, ...] = ()
    not_checked: str = ""


@dataclass(frozen=True, slots=True)
class Rule(Generic[D]):
    """A rule.

    Args:
        name: such as `partial-responses`.
        must: what must be right, in one sentence.
        problems: yields what is not right in a description.
    """

    name: str
    must: str
    problems: Callable[[D], Iterator[Problem]]

    def check(self, described: D) -> Check:
        """Apply the rule; what it found before it met an unknown value is kept."""
        found: list[Problem] = []
        why = described.unread
        try:
            if not why:
                found.extend(self.problems(described))
        except NotUnderstood as error:
            why = str(error)
        return Check(self.name, described.subject, tuple(found), why)


def rule(must: str) -> Callable[[Callable[[D], Iterator[Problem]]], Rule[D]]:
    """Make a rule of a function, named after it.

    Args:
        must: what must be right, in one sentence.
    """

    def made(problems: Callable[[D], Iterator[Problem]]) -> Rule[D]:
        return Rule(problems.__name__.replace("_", "-"), must, problems)

    return made


def all_of(parts: Iterable[Iterator[Problem]]) -> Iterator[Problem]:
    """Yield the problems of each part: a value that could not be read in one of them hides nothing of the others.

    Raises:
        NotUnderstood: at the end, if there was one.
    """
    unclear: list[NotUnderstood] = []
    for part in parts:
        try:
            yield from part
        except NotUnderstood as error:
            unclear.append(error)
    if unclear:
        raise unclear[0]


def refused_values(*parts: object) -> Iterator[Problem]:
    """Find values that the cloud refuses.

    Args:
        parts: descriptions with a name, or what stands for one that is not known.
    """
    for part in parts:
        for each in fields(part) if is_dataclass(part) and not isinstance(part, type | Unknown) else ():
            if isinstance(found := getattr(part, each.name), Refused):
                wrong, _, write = found.why.partition("; ")
                yield Problem(str(getattr(part, "name", "")), wrong, "it cannot be deployed", write)


def check(rules: Iterable[Rule[D]], described: D) -> Iterator[Check]:
    """Apply each rule to a description."""
    return (each.check(described) for each in rules)
