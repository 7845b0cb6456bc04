"""Search a few schedules of faults of each scenario, the same ones each time: no message is lost, none is stuck, and the cost is bounded."""

from __future__ import annotations

from collections import Counter
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

SINGLE, PAIRS = 8, 3
"""Schedules of one fault and of two for each scenario; `make prove` searches all."""


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_no_schedule_of_faults_breaks_a_promise(scenario: Scenario) -> None:
    single, pairs = (SINGLE, PAIRS) if scenario.faults else (0, 0)
    found = Search(scenario).run(pairs, single=single)

    assert not found.broken, story(scenario, smallest(scenario, found.broken[0][0]))
    assert found.sizes == Counter({0: 1, 1: single, 2: pairs})


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
    single, pairs = (30, 10) if scenario.faults else (0, 0)  # no other command searches these
    found = Search(scenario, until="MULTIPLY").run(pairs, single=single)

    assert not found.broken, story(scenario, smallest(scenario, found.broken[0][0]))


@pytest.mark.parametrize("scenario", FITTING, ids=lambda scenario: scenario.name)
def test_deliveries_that_fit_break_no_promise(scenario: Scenario) -> None:
    assert broken(replay(scenario, {})) == []
