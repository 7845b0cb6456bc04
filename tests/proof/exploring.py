"""Search the schedules of a scenario: every point of a run with every fault that can happen there, then pairs and more, within a number of replays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from proof.fault_names import possible_fault_names
from proof.promises import broken
from proof.replaying import Replay, Scenario, Schedule, replay

MOST_OPEN = 3_000
"""Schedules that a search remembers to make longer ones of."""


@dataclass
class Found:
    """The result of a search.

    Args:
        scenario: what was explored.
        sizes: how many schedules of each number of faults were replayed.
        broken: the schedules that broke a promise, and how.
    """

    scenario: Scenario
    sizes: Counter[int] = field(default_factory=Counter)
    broken: list[tuple[Schedule, list[str]]] = field(default_factory=list)

    @property
    def schedules(self) -> int:
        """Return the number of distinct schedules that were replayed."""
        return self.sizes.total()


class Search:
    """Explores the schedules of a scenario.

    Args:
        scenario: what to explore.
        deepest: the most faults of a schedule.
        seed: draws the schedules of two and more faults.
        until: the first word of a problem that ends the search; all others are noted.
    """

    def __init__(self, scenario: Scenario, *, deepest: int = 2, seed: int = 0, until: str | None = None) -> None:
        self._until, self._ended = until, False
        self._deepest, self._chance = deepest, Random(f"{scenario.name} {seed}")
        self._known: set[tuple[tuple[str, str], ...]] = set()
        self._open: list[tuple[Schedule, list[tuple[str, str]]]] = []
        self.found = Found(scenario)

    def run(self, longer: float, *, single: int | None = None) -> Found:
        """Replay the schedule of no fault, then those of one, and then so many of more.

        Args:
            longer: how many of two and more faults.
            single: how many of one fault; None for all.
        """
        self._try({})
        singles = self._open.pop()[1]
        for where, fault_name in self._chance.sample(singles, len(singles))[:single]:
            self._try({where: fault_name})
        most = self.found.schedules + longer
        while self._open and self.found.schedules < most and not self._ended:
            self._try_longer()
        return self.found

    def _try(self, schedule: Schedule) -> None:
        """Replay a schedule, check the promises, and keep the faults that can follow its last one."""
        if self._ended:
            return
        self._known.add(tuple(schedule.items()))
        outcome = replay(self.found.scenario, schedule)
        self.found.sizes[len(schedule)] += 1
        if problems := broken(outcome):
            self.found.broken.append((schedule, problems))
            self._ended = any(problem.partition(":")[0] == self._until for problem in problems)
        if len(schedule) < self._deepest and (later := list(possible(outcome))):
            self._open.append((schedule, later))
        if len(self._open) > MOST_OPEN:  # a search that runs for hours must not fill the memory
            self._open.pop(self._chance.randrange(len(self._open)))

    def _try_longer(self) -> None:
        index = self._chance.randrange(len(self._open))
        schedule, later = self._open[index]
        where, fault_name = later.pop(self._chance.randrange(len(later)))
        if not later:
            self._open.pop(index)
        longer = {**schedule, where: fault_name}
        if tuple(longer.items()) not in self._known:
            self._try(longer)


def possible(outcome: Replay) -> Iterator[tuple[str, str]]:
    """Yield the points after the last fault of a replay, each with a fault that can happen there."""
    visited = [visit.where for visit in outcome.visits]
    start = max((visited.index(where) + 1 for where in outcome.schedule if where in visited), default=0)
    for visit in outcome.visits[start:]:
        if visit.point.message_ids:
            fault_names = possible_fault_names(
                outcome.world._fault_plan.possible_faults, visit.point.when, visit.point.what
            )
            yield from ((visit.where, fault_name) for fault_name in fault_names)
