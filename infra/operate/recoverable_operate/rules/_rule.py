"""Keep apart what is known of a deployment and what could not be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Unknown:
    """Stands for a value that could not be read; `why` says why, in one sentence without a full stop."""

    why: str


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


D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class Problem:
    """What a rule finds.

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


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem, with the name of the rule that found it."""

    rule: str
    problem: Problem

    def __str__(self) -> str:
        return f"{self.problem.wrong}, so {self.problem.causes}; {self.problem.write}"


@dataclass(frozen=True, slots=True)
class NotChecked:
    """A rule that could not be checked, and why."""

    rule: str
    why: str


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


def rule(must: str) -> Callable[[Callable[[D], Iterator[Problem]]], Rule[D]]:
    """Make a rule of a function, named after it.

    Args:
        must: what must be right, in one sentence.
    """

    def made(problems: Callable[[D], Iterator[Problem]]) -> Rule[D]:
        return Rule(problems.__name__.replace("_", "-"), must, problems)

    return made


def results(rules: Iterable[Rule[D]], deployed: D) -> Iterator[Finding | NotChecked]:
    """Yield what each rule finds in a description, and which rules could not understand it."""
    for each in rules:
        try:
            yield from (Finding(each.name, problem) for problem in each.problems(deployed))
        except NotUnderstood as error:
            yield NotChecked(each.name, str(error))
