"""Search random schedules for broken promises: no timeout is lost, early or sent in spite of a cancel. The search finds the mistakes that it was made to find."""

from __future__ import annotations

import pytest

from proof.mistakes import Mutation
from proof.timeouts.kinds import KINDS, NAMED, Kind
from proof.timeouts.mutations import MUTATIONS
from proof.timeouts.playing import play
from proof.timeouts.search import search, story

SCHEDULES = 40
ENOUGH = 2_000
"""Schedules among which each mistake shows."""
FIRST_SHOWN = {
    "no look after storing": 322, "set aside before it is pointed to": 82, "unconditional claim": 72,
    "what may be taken is cancelled": 90, "what may be taken is cancelled in a table": 106,
    "nothing points to what waits again": 46, "a key is not looked for": 49, "a key that is found is not confirmed": 43,
    "moved without being hidden": 39,
}  # fmt: skip
"""The first schedule that shows a mistake, where that is no early one; the search begins with it."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_no_schedule_breaks_a_promise(kind: Kind) -> None:
    found = search(kind, range(SCHEDULES))

    assert not found.broken, story(kind.name, found.broken[0][0])
    assert found.schedules == SCHEDULES


@pytest.mark.slow
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_mistake_is_found(mutation: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"recoverable.{mutation.target}", mutation.by)

    found = search(NAMED[mutation.scenario], range(FIRST_SHOWN.get(mutation.name, 0), ENOUGH), until=mutation.breaks)

    broken = {problem.partition(":")[0] for _, problems in found.broken for problem in problems}
    assert mutation.breaks in broken, f"{found.schedules} schedules, broken: {broken}"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_schedule_is_the_same_again(kind: Kind) -> None:
    first, again = (play(kind, 7, told=True) for _ in range(2))

    assert first == again
    assert first.story
