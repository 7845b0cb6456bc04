"""Search every schedule of faults: no message is lost, none is stuck, and the cost is bounded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proof.catalogue import SCENARIOS
from proof.exploring import Search
from proof.promises import broken
from proof.replaying import Scenario, replay
from proof.service_bus import catalogue as service_bus
from proof.sqs import catalogue as sqs
from proof.sqs.scenarios import VISIBILITY
from proof.story import smallest, story


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_no_schedule_of_faults_breaks_a_promise(scenario: Scenario) -> None:
    found = Search(scenario).run(scenario.pairs, share=scenario.share)

    assert not found.broken, story(scenario, smallest(scenario, found.broken[0][0]))
    assert found.sizes[2] == round(scenario.pairs * scenario.share)


OVERLAPS = [
    *(pytest.param(each, id=each.name) for each in sqs.OVERLAPPING),
    *(pytest.param(each, id=each.name) for each in service_bus.OVERLAPPING),
]  # fmt: skip
FITTING = (
    *(replace(each, visibility=VISIBILITY, overlaps=False) for each in sqs.OVERLAPPING),
    *(replace(each, host={"batch_size": 2}, overlaps=False) for each in service_bus.OVERLAPPING),
)
"""The same messages where each delivery ends within its visibility timeout or its locks."""


@pytest.mark.slow
@pytest.mark.parametrize("scenario", OVERLAPS)
def test_deliveries_that_overlap_do_not_multiply_a_message(scenario: Scenario) -> None:
    found = Search(scenario, until="MULTIPLY").run(scenario.pairs, share=scenario.share)

    assert not found.broken, story(scenario, smallest(scenario, found.broken[0][0]))


@pytest.mark.parametrize("scenario", FITTING, ids=lambda scenario: scenario.name)
def test_deliveries_that_fit_break_no_promise(scenario: Scenario) -> None:
    assert broken(replay(scenario, {})) == []
