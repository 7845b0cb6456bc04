"""Nobody innocent is given up and no handler runs too often in a crowd, without any fault but what handlers do."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from proof.crowds.cases import LARGE, SMALL
from proof.crowds.crowd import Crowd, outcome_of
from proof.crowds.invariants import broken
from proof.crowds.search import search
from recoverable.attempts.invocation import FOREVER
from recoverable.recovery.counting import restore_retry_state
from recoverable.recovery.delivery import Delivery

SHUFFLES = 10
DRAWN = 150


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Log nothing: thousands of messages fail."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def problems(settings: Mapping[str, Any], shuffles: int) -> list[str]:
    """Return the promises that a crowd breaks in any of its shuffles."""
    crowds = [Crowd(**settings, seed=seed) for seed in range(shuffles)]
    return [f"{problem}, seed {crowd.seed}" for crowd in crowds for problem in broken(crowd, outcome_of(crowd))]


@pytest.mark.parametrize("settings", SMALL.values(), ids=SMALL)
def test_a_batch_of_ten_breaks_no_promise(settings: Mapping[str, Any]) -> None:
    assert problems(settings, SHUFFLES) == []


@pytest.mark.slow
@pytest.mark.parametrize("settings", LARGE.values(), ids=LARGE)
def test_a_large_batch_and_a_busy_queue_break_no_promise(settings: Mapping[str, Any]) -> None:
    assert problems(settings, 1) == []


def test_crowds_drawn_at_random_break_no_promise() -> None:
    assert list(search(range(DRAWN))) == []


def nobody(*_: object) -> None:
    """Try no message before the others."""


def test_the_search_finds_a_killer_that_takes_others_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recoverable.aws.order.message_to_try_first", nobody)

    found = problems(SMALL["two killers, eight good (0, 0)"], SHUFFLES)

    assert [problem for problem in found if problem.startswith("CONVICTED")]


def test_the_search_finds_a_handler_that_is_stopped_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recoverable.aws.order.message_to_try_first", nobody)

    found = problems(SMALL["one too long, nine that fail (5, 3)"], SHUFFLES)

    assert [problem for problem in found if problem.startswith("RUNS")]


def vouch_for_copies(delivery: Delivery, counter: Any, max_immediate: int) -> None:
    """Restore the retry state, but take each delivery of a copy's originals for reported."""
    restore_retry_state(delivery, counter, max_immediate)
    delivery.originals_reported = True


@pytest.mark.parametrize(
    ("function", "mistake"),
    [("recovery.counting.restore_retry_state", vouch_for_copies), ("aws.order.hidden_for", lambda _: FOREVER)],
    ids=["a copy with counts is no suspect", "an old message is no suspect"],
)
def test_the_search_finds_a_suspect_that_is_run_with_others(
    monkeypatch: pytest.MonkeyPatch, function: str, mistake: Any
) -> None:
    monkeypatch.setattr(f"recoverable.{function}", mistake)

    found = problems(SMALL["a killer, one too long, six good (1, 0)"], SHUFFLES)

    assert [problem for problem in found if problem.startswith("RUNS")]
