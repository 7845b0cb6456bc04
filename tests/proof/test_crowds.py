"""Nobody innocent is given up and no handler runs too often in a crowd, and beside faults nothing is lost or goes round for ever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from proof.crowds.cases import LARGE, OVERLAPPING, SMALL
from proof.crowds.crowd import Crowd, outcome_of
from proof.crowds.invariants import broken
from proof.crowds.mutations import MUTATIONS, CrowdMutation
from proof.crowds.search import faulty_of, granting_of, overlapping_of, search

SHUFFLES, SHUFFLES_FOR_A_MISTAKE = 2, 10
DRAWN, DRAWN_WITH_FAULTS, GRANTING_DRAWN, OVERLAPPING_DRAWN = 8, 8, 6, 30
QUICKER = ("300 that take 0.5 s, one batch (0, 0)", "900 quick, then 100 that take 2 s (0, 0)")
"""The large crowds that are tried here; `make crowds` tries all, and more of the others."""


def problems(settings: Mapping[str, Any], shuffles: int) -> Iterator[str]:
    """Yield the promises that a crowd breaks, shuffle by shuffle."""
    for crowd in (Crowd(**settings, seed=seed) for seed in range(shuffles)):
        yield from (f"{problem}, seed {crowd.seed}" for problem in broken(crowd, outcome_of(crowd)))


@pytest.mark.parametrize("front", ["plain", "powertools"])
@pytest.mark.parametrize("settings", SMALL.values(), ids=SMALL)
def test_a_batch_of_ten_breaks_no_promise(settings: Mapping[str, Any], front: str) -> None:
    assert list(problems({**settings, "front": front}, SHUFFLES)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICKER)
def test_a_large_batch_and_a_busy_queue_break_no_promise(name: str) -> None:
    assert list(problems(LARGE[name], 1)) == []


def test_crowds_drawn_at_random_break_no_promise() -> None:
    assert list(search(range(DRAWN))) == []


def test_crowds_drawn_at_random_break_no_promise_beside_faults() -> None:
    assert list(search(range(DRAWN_WITH_FAULTS), faulty_of)) == []


def test_crowds_drawn_at_random_break_no_promise_where_a_policy_grants_more_immediate_retries() -> None:
    assert list(search(range(GRANTING_DRAWN), granting_of)) == []


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(16, id="a message came twice in one batch, and a beat came too late"),
        pytest.param(
            96, id="an invocation asked SQS, and two others in threads of their own waited for what it had to make"
        ),
        pytest.param(112, id="a message came twice in one batch"),
        pytest.param(
            312,
            id="a message came twice in one batch at its last two receives, and a change of its visibility came too late",
        ),
    ],
)
def test_a_crowd_that_once_broke_a_promise_where_deliveries_overlap_breaks_none(seed: int) -> None:
    assert list(search(range(seed, seed + 1), overlapping_of)) == []


@pytest.mark.parametrize("front", ["plain", "powertools"])
def test_a_message_has_one_error_copy_where_deliveries_overlap(front: str) -> None:
    assert list(problems({**OVERLAPPING, "front": front}, SHUFFLES)) == []


def test_crowds_drawn_at_random_break_no_promise_where_deliveries_overlap() -> None:
    assert list(search(range(OVERLAPPING_DRAWN), overlapping_of)) == []


def test_the_same_crowd_breaks_no_promise_where_messages_are_hidden_for_long_enough() -> None:
    assert list(problems({**OVERLAPPING, "visibility": 180}, SHUFFLES)) == []


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_the_search_finds_a_mistake(mutation: CrowdMutation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"recoverable.{mutation.target}", mutation.by)

    found = problems(mutation.crowd, SHUFFLES_FOR_A_MISTAKE)

    assert any(problem.partition(":")[0] == mutation.breaks for problem in found)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_without_the_mistake_its_crowd_breaks_no_promise(mutation: CrowdMutation) -> None:
    assert list(problems(mutation.crowd, 1)) == []
