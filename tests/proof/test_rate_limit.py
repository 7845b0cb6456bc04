"""Search for faults while the rate is limited: nothing is lost or stuck, waiting counts as no attempt, and the search finds planted mistakes."""

from __future__ import annotations

import pytest

from proof import catalogue
from proof.exploring import Search
from proof.mistakes import Mutation
from proof.rate_limit_scenarios import NAMED, SCENARIOS
from proof.replaying import Scenario, Schedule
from proof.service_bus.scenarios import Scenario as OnServiceBus
from proof.story import smallest, story
from recoverable._ladder.delivery import Delivery
from recoverable._ladder.settlement import COMPLETE, Settlement

LONG = "rate limited for longer than messages are held"

assert catalogue.REPLAYING, "each cloud's scenarios can be replayed"

PAIRS, SHARE = 60, 0.08
EARLY = "clock early"
"""Not asked of Service Bus: a copy is scheduled for a time of day, so one that a clock an hour early schedules comes at once, again and again."""


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_no_schedule_of_faults_breaks_a_promise(scenario: Scenario) -> None:
    found = Search(scenario).run(PAIRS, share=SHARE)
    wrong = [schedule for schedule, _ in found.broken if not excused(schedule, scenario)]

    assert not wrong, story(scenario, smallest(scenario, wrong[0]))


def excused(schedule: Schedule, scenario: Scenario) -> bool:
    """True if the schedule asks for more than the scenario's broker can keep."""
    return EARLY in schedule.values() and isinstance(scenario, OnServiceBus)


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

    found = Search(NAMED[mutation.scenario], until=mutation.breaks).run(PAIRS)

    assert mutation.breaks in {problem.partition(":")[0] for _, problems in found.broken for problem in problems}
