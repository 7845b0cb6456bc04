"""That the simulation counts what happens, and what each way does about a short outage."""

from __future__ import annotations

from datetime import timedelta
from functools import cache

import pytest

from builders import NOW
from simulation.outages.cell import Cell, most_in_a_second, simulate
from simulation.outages.ways import FAILURES, WAYS

pytestmark = pytest.mark.xdist_group("outages")  # one process makes what its tests share, once

MESSAGES, MINUTES = 25, 10.0
SECONDS = MINUTES * 60
simulated = cache(simulate)
CLOUDS = ("AWS", "Azure")
LIMITED = [
    (name, cloud)
    for name, way in WAYS.items()
    for cloud in way.clouds
    if name.startswith(("shared", "circuit", "paused"))
]


@pytest.mark.parametrize(("cloud", "deliveries", "calls"), [("AWS", 5, 5), ("Azure", 10, 20)])
def test_one_message_under_a_redrive_policy_costs_what_a_count_by_hand_says(
    cloud: str, deliveries: int, calls: int
) -> None:
    result = simulated(Cell("redrive policy", cloud, 1, 1))

    assert (result.set_aside, result.placed, result.failed) == (1, 0, deliveries)
    assert (result.invocations, result.calls) == (deliveries, calls)  # Azure's host abandons, Lambda's lets go


@pytest.mark.parametrize("cloud", CLOUDS)
def test_without_a_limit_all_attempts_are_spent_and_all_is_set_aside(cloud: str) -> None:
    result = simulated(Cell("no rate limit", cloud, 5, MESSAGES, MINUTES))

    assert (result.set_aside, result.placed, result.failed) == (MESSAGES, 0, 24 * MESSAGES)


@pytest.mark.slow
@pytest.mark.parametrize(("way", "cloud"), LIMITED)
def test_with_a_limit_nothing_is_set_aside_and_only_what_started_it_has_fewer_attempts(way: str, cloud: str) -> None:
    result = simulated(Cell(way, cloud, 20, MESSAGES, MINUTES))

    assert (result.set_aside, result.placed) == (0, MESSAGES)
    assert result.fewest_left >= 24 - FAILURES
    assert result.done is not None
    assert result.done <= timedelta(minutes=16)


@pytest.mark.slow
@pytest.mark.parametrize("cloud", CLOUDS)
def test_twenty_instances_that_share_a_circuit_attempt_one_message_in_each_wait(cloud: str) -> None:
    result = simulated(Cell("shared circuit", cloud, 20, MESSAGES, MINUTES))

    assert result.failed <= SECONDS + 20 * FAILURES


def test_the_busiest_second_is_the_one_with_most_of_the_messages() -> None:
    moments = [NOW.replace(microsecond=0) + timedelta(seconds=at) for at in (0, 1.5, 2.1, 2.2, 9)]

    assert (most_in_a_second(moments), most_in_a_second([])) == (2, 0)


def test_a_paused_trigger_costs_less_than_half_of_what_deferrals_cost() -> None:
    deferred, paused = (
        simulated(Cell(way, "AWS", 20, MESSAGES, MINUTES)) for way in ("shared circuit", "paused trigger")
    )

    assert paused.dollars < deferred.dollars / 2
