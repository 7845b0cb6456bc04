"""Search for faults while the rate is limited: nothing is lost or stuck, waiting counts as no attempt, and the search finds planted mistakes."""

from __future__ import annotations

import pytest

from proof.catalogue import NAMED, RATE_LIMITED
from proof.exploring import Search
from proof.mistakes import Mutation
from proof.rate_limit_scenarios import excused
from proof.replaying import Scenario
from proof.story import smallest, story
from recoverable._ladder.delivery import Delivery
from recoverable._ladder.settlement import COMPLETE, Settlement

LONG = "rate limited for longer than messages are held"

SINGLE, PAIRS = 8, 3
"""Schedules of one fault and of two for each scenario; `make prove` searches all."""


@pytest.mark.slow
@pytest.mark.parametrize("scenario", RATE_LIMITED, ids=lambda scenario: scenario.name)
def test_no_schedule_of_faults_breaks_a_promise(scenario: Scenario) -> None:
    found = Search(scenario).run(PAIRS, single=SINGLE)
    wrong = [schedule for schedule, _ in found.broken if not excused(scenario, schedule)]

    assert not wrong, story(scenario, smallest(scenario, wrong[0]))


def too_many(delivery: Delivery) -> int:
    """Count a deferral as an attempt."""
    return delivery.prior_attempts + delivery.deliveries


def always(*_: object) -> bool:
    """Hold a message for ever."""
    return True


def forgotten(*_: object) -> Settlement:
    """Defer a message without a copy."""
    return COMPLETE


MUTATIONS = (
    Mutation("waiting counts as an attempt", "_ladder.copy_headers.prior_attempts_of_deferral", too_many, "rate limited", "ATTEMPTS"),
    Mutation("messages are held for ever", "_rate_limit.limiter.may_defer", always, LONG, "ENDLESS"),
    Mutation("what is held is forgotten", "_ladder.decision.settlement_of_deferral", forgotten, "rate limited together", "LOST"),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_mistake_is_found(mutation: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"recoverable.{mutation.target}", mutation.by)

    found = Search(NAMED[mutation.scenario], until=mutation.breaks).run(100)

    assert mutation.breaks in {problem.partition(":")[0] for _, problems in found.broken for problem in problems}
