"""In a FIFO queue no round starts early and no killer takes another group along, whatever delivery or visibility change is lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from proof.fifo.cases import CASES
from proof.fifo.crowd import FifoCrowd, outcome_of
from proof.fifo.invariants import broken
from proof.fifo.search import search
from recoverable._ladder.delivery import Delivery

DRAWN = 50


def problems(settings: Mapping[str, Any]) -> list[str]:
    """Return the promises that a crowd breaks."""
    crowd = FifoCrowd(**settings)
    return list(broken(crowd, outcome_of(crowd)))


@pytest.mark.parametrize("settings", CASES.values(), ids=CASES)
def test_no_delay_is_skipped_and_no_other_group_is_given_up(settings: Mapping[str, Any]) -> None:
    assert problems(settings) == []


def test_crowds_of_groups_drawn_at_random_break_no_promise() -> None:
    assert list(search(range(DRAWN))) == []


def never_wait(*_: object) -> None:
    """Let the count alone tell the round."""


def as_they_came(by_group: list[list[Delivery]], *_: object) -> list[list[Delivery]]:
    """Run the groups in the queue's order each time."""
    return by_group


def forgive_all(by_group: list[list[Delivery]], *_: object) -> None:
    """Give up nothing in a batch, however often it was delivered."""
    for delivery in (delivery for group in by_group for delivery in group):
        delivery.unreported = False


MISTAKES = [
    ("wait", never_wait, "a killer alone (0, 3), 1 h", "EARLY"),
    ("wait", never_wait, "a visibility change refused twice (0, 1), 1 h", "EARLY"),
    ("suspects_last", as_they_came, "a killer, nine good, batches of ten (5, 3), 10 s", "CONVICTED"),
    ("forgive_held_back", forgive_all, "three killers, seven good, batches of ten (1, 1), 1 h", "UNREPORTED"),
]


@pytest.mark.parametrize(("target", "mistake", "case", "promise"), MISTAKES)
def test_the_search_finds_a_mistake(
    monkeypatch: pytest.MonkeyPatch, target: str, mistake: Any, case: str, promise: str
) -> None:
    monkeypatch.setattr(f"recoverable.aws._fifo.{target}", mistake)

    assert promise in {problem.partition(":")[0] for problem in problems(CASES[case])}


def test_the_search_finds_at_random_that_the_bound_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recoverable.aws._fifo.wait", never_wait)

    found = {problem.partition(":")[0] for _, broken_ones in search(range(60)) for problem in broken_ones}

    assert "EARLY" in found
