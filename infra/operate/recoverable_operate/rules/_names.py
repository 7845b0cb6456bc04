"""Find names that nothing has: of queues, and of what a template refers to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from recoverable_operate.rules._rule import NotUnderstood, Problem

SLIPS = 2
"""A name that differs from one that is made by so many letters is taken for a slip of the pen."""


DIGITS = re.compile(r"[0-9]+")
"""The part that tells `orders-1` from `orders-2`, which are two queues."""


@dataclass(frozen=True, slots=True)
class Dangling:
    """A reference to something that a template does not have.

    Args:
        where: the resource in which it stands.
        what: such as `Ref Ordres`.
        near: the name that was probably meant; None where there is none like it.
    """

    where: str
    what: str
    near: str | None


PLACEHOLDER = re.compile(r"<[^<>]*>")
"""Stands in a name for what is known in the cloud alone, such as the name of the stack."""


def same(one: str, other: str) -> bool:
    """True if two names are the same.

    Raises:
        NotUnderstood: that depends on what is known in the cloud alone.
    """
    if one != other and (could_be(one, other) or could_be(other, one)):
        raise NotUnderstood(f"whether {one} and {other} are the same is known in the cloud alone")
    return one == other


def could_be(name: str, other: str) -> bool:
    """True if a name with placeholders may turn out as the other."""
    pattern = ".+".join(map(re.escape, PLACEHOLDER.split(name)))
    return PLACEHOLDER.search(name) is not None and re.fullmatch(pattern, other) is not None


def near(name: str, names: Iterable[str]) -> str | None:
    """Return the first of the names that differs by two letters at most, and not by digits alone; None if there is none."""
    likely = (each for each in names if DIGITS.sub("", each) != DIGITS.sub("", name))
    return next((each for each in likely if letters_apart(name, each) <= SLIPS), None)


def letters_apart(one: str, other: str) -> int:
    """Return how many letters are to be put in, taken out or changed (Levenshtein's distance); above `SLIPS`, any number above it."""
    if abs(len(one) - len(other)) > SLIPS:
        return SLIPS + 1
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, 1):
        before, row[0] = row[0], place
        for column, theirs in enumerate(other, 1):
            before, row[column] = row[column], min(row[column] + 1, row[column - 1] + 1, before + (letter != theirs))
    return row[-1]


def misspelt(where: str, name: str, made: Iterable[str]) -> Iterator[Problem]:
    """Find a name that no queue has which is made here.

    Args:
        where: what names it.
        name: of a queue.
        made: the names of the queues that are made here.

    Raises:
        NotUnderstood: it is like none of them, so it may be a queue of another stack.
    """
    names = sorted(made)
    if name in names or any(same(name, each) for each in names):
        return
    if (meant := near(name, names)) is None:
        raise NotUnderstood(f"{where} names the queue {name}, which is not made here; --assume says what it is like")
    yield Problem(
        where,
        f"{where} names the queue {name}, and the one that is made here is {meant}",
        "the two do not find each other",
        f"write {meant}",
    )


def dangling_problems(dangling: Iterable[Dangling]) -> Iterator[Problem]:
    """Find references to what a template does not have."""
    for each in dangling:
        yield Problem(
            each.where,
            f"{each.where} has a {each.what}, which is no resource or parameter of the template",
            "it cannot be deployed",
            f"write {each.near}" if each.near else "write the logical id of a resource, or add it",
        )
