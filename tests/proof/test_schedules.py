"""Search every schedule of faults: no message is lost, none is stuck, and the cost is bounded."""

from __future__ import annotations

import pytest

from proof.catalogue import SCENARIOS
from proof.exploring import Search
from proof.replaying import Scenario
from proof.story import smallest, story


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_no_schedule_of_faults_breaks_a_promise(scenario: Scenario) -> None:
    found = Search(scenario).run(scenario.pairs, share=scenario.share)

    assert not found.broken, story(scenario, smallest(scenario, found.broken[0][0]))
    assert found.sizes[2] == round(scenario.pairs * scenario.share)
