"""Find what is wrong with the variables that set the ladder, on both clouds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from recoverable_operate.check.known import Unknown
from recoverable_operate.check.ladder import mistakes, strangers
from recoverable_operate.check.rule import Problem


def variable_problems(name: str, variables: Mapping[str, str | Unknown]) -> Iterator[Problem]:
    """Yield what is wrong with the variables of a function or an app."""
    for text in mistakes(variables):
        wrong, _, write = text.partition("; ")
        yield Problem(name, wrong, f"{name} does not start where it reads its settings from the environment", write)
    for stranger in strangers(variables):
        yield Problem(
            name,
            f"{name} has a variable {stranger}, which this package does not read",
            "what it is to set has its default",
            "write one of the names in docs/the-ladder.md#settings-from-environment-variables",
        )
