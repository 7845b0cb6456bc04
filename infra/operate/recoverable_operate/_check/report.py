"""Put the checks of all looks together: the findings with their places, what was not checked, and the counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from recoverable_operate._check.looks import Look
from recoverable_operate.rules import Check, Problem

MOST_COUNTED = 6
"""More rules that were not checked are not named in the last line."""

IN_CODE = re.compile(r"(.+\.py):(\d+)")
"""How a finding names a line of code."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem with the rule that found it, and its place.

    Args:
        rule: the rule's name.
        problem: what was found.
        file: in which it stands; empty for what is deployed.
        line: the line there, from 1.
    """

    rule: str
    problem: Problem
    file: str
    line: int

    @property
    def fingerprint(self) -> str:
        """Return what tells it from others, wherever its line moves."""
        named = "\0".join((self.rule, self.file, self.problem.where, self.problem.wrong))
        return sha256(named.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Report:
    """The subject of a report."""

    looks: tuple[Look, ...]

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Return the findings, each once."""
        return tuple(dict.fromkeys(each for look in self.looks for each in findings_of(look)))

    @property
    def checks(self) -> list[Check]:
        """Return all checks."""
        return [each for look in self.looks for each in look.checks]

    @property
    def is_empty(self) -> bool:
        """True if nothing of what was looked at has an endpoint, or a function that reads a queue."""
        return all(each.nothing for each in self.looks)

    @property
    def not_done(self) -> list[Check]:
        """Return the checks that did not look at all they should."""
        return [each for each in self.checks if each.not_checked]

    @property
    def left_alone(self) -> list[str]:
        """Return the functions that use nothing of this package."""
        return [each for look in self.looks for each in look.left_alone]

    @property
    def not_looked_at(self) -> Mapping[tuple[str, str], list[Check]]:
        """Return the checks that were not done, by what to call them, and why: a rule, or a function to which none was applied."""
        by_subject = Counter(each.subject for each in self.checks)
        unread = Counter((each.subject, each.not_checked) for each in self.not_done)
        grouped: dict[tuple[str, str], list[Check]] = {}
        for each in self.not_done:
            is_unread = unread[each.subject, each.not_checked] == by_subject[each.subject] > 1
            grouped.setdefault((each.subject if is_unread else each.rule, each.not_checked), []).append(each)
        return grouped

    @property
    def counts(self) -> str:
        """Return how many checks were done, in one line without a full stop."""
        checks, missed = self.checks, self.not_done
        rules, subjects = {each.rule for each in checks}, {each.subject for each in checks}
        done = f"{len(checks) - len(missed)} of {len(checks)} checks done ({numbered(len(rules), 'rule')}, {numbered(len(subjects), 'function')})"
        by_name = Counter[str]()
        for (name, _), each in self.not_looked_at.items():
            by_name[name] += len(each)
        listed = ", ".join(name if count == 1 else f"{name} ({count})" for name, count in by_name.items())
        named = f": {listed}" if len(by_name) <= MOST_COUNTED else ""
        return f"{done}; {len(missed)} not{named}" if missed else done


def numbered(count: int, thing: str) -> str:
    """Return a number of things in words."""
    return f"{count} {thing}{'' if count == 1 else 's'}"


def findings_of(look: Look) -> Iterator[Finding]:
    """Yield the findings of one look."""
    for check in look.checks:
        for problem in check.problems:
            yield finding(look, check.rule, problem)


def finding(look: Look, rule: str, problem: Problem) -> Finding:
    """Return a problem with its place: a line of code, what the file has under its name, else the file's beginning."""
    if found := IN_CODE.fullmatch(problem.where):
        return Finding(rule, problem, found[1], int(found[2]))
    if problem.where in look.places:
        place = look.places[problem.where]
        return Finding(rule, problem, str(place.file), place.line)
    return Finding(rule, problem, look.what if look.places else "", 1)
