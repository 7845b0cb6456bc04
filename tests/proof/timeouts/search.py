"""Search the schedules of timeouts one after the other, each drawn from its number, and describe one again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from proof.timeouts.kinds import NAMED, Kind
from proof.timeouts.playing import play


@dataclass
class Found:
    """The result of a search.

    Args:
        schedules: how many were played.
        flawless: in how many of them nothing went wrong that can have a message come twice.
        copies: how many messages came once more than once.
        broken: the schedules that broke a promise, and how.
    """

    schedules: int = 0
    flawless: int = 0
    copies: int = 0
    broken: list[tuple[int, list[str]]] = field(default_factory=list)


def search(kind: Kind, numbers: Iterable[int], *, until: str | None = None) -> Found:
    """Play schedules of a kind.

    Args:
        kind: the kind.
        numbers: which ones.
        until: the first word of a problem that ends the search.
    """
    found = Found()
    for number in numbers:
        outcome = play(kind, number)
        found.schedules += 1
        found.flawless += not outcome.mishaps
        found.copies += outcome.copies
        if outcome.problems:
            found.broken.append((number, outcome.problems))
        promises = {problem.partition(":")[0] for problem in outcome.problems}
        if until in promises:
            break
    return found


def story(name: str, number: int) -> str:
    """Return what happened in a schedule, which promises it breaks, and the line that plays it again."""
    outcome = play(NAMED[name], number, told=True)
    broken = [f"Broken: {problem}" for problem in outcome.problems]
    return "\n".join([*outcome.story, *broken, f"Again: print(story({name!r}, {number}))"])
