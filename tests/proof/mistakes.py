"""Define a mistake that the package does not make and that the search must find: one replaced function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mutation:
    """A mistake.

    Args:
        name: the mistake.
        target: what is replaced.
        by: the replacement.
        scenario: the name of the one that shows it.
        breaks: the promise that it breaks, by the first word of the problem.
    """

    name: str
    target: str
    by: Callable[..., Any] | int | Mapping[str, str]
    scenario: str
    breaks: str
