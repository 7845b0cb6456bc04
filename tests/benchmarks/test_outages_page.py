"""That docs/internals/outages.md has what the simulation prints: a row for each way on each number of instances, under the same heads, and its prices."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulation.outages.__main__ import INSTANCES
from simulation.outages.prices import (
    FUNCTIONS_EXECUTION,
    FUNCTIONS_GB_SECOND,
    SERVICE_BUS_OPERATION,
    SHORTEST_EXECUTION,
    STORE,
)
from simulation.outages.tables import COLUMNS
from simulation.outages.waves import HEADS as HEADS_OF_WAVES
from simulation.outages.waves import waves
from simulation.outages.ways import FAILURES, WAYS
from simulation.prices import MEMORY

PAGE = (Path(__file__).parents[2] / "docs" / "internals/outages.md").read_text(encoding="utf-8")
HEADS = f"| {' | '.join(name for name, _ in COLUMNS)} |"


@pytest.mark.parametrize("cloud", ["AWS", "Azure"])
def test_the_page_has_a_row_for_each_way_on_each_number_of_instances(cloud: str) -> None:
    tables = [after.split("\n\n")[0].splitlines()[1:] for after in PAGE.split(f"\n{HEADS}\n")[1:]]
    [rows] = [table for table in tables if f"| {cloud} |" in table[0]]

    wanted = [[name, cloud, str(n)] for name, way in WAYS.items() if cloud in way.clouds for n in INSTANCES]
    assert [row.strip("| ").split(" | ")[:3] for row in rows] == wanted


def test_the_page_has_a_row_for_each_wave() -> None:
    [table] = [
        after.split("\n\n")[0].splitlines()[1:] for after in PAGE.split(f"\n| {' | '.join(HEADS_OF_WAVES)} |\n")[1:]
    ]
    wanted = [[wave.cloud, f"{wave.longest} min", f"{wave.grid} s"] for wave in waves(["AWS", "Azure"])]

    assert [row.replace("–", "1 s").strip("| ").split(" | ")[:3] for row in table] == wanted


@pytest.mark.parametrize(
    "told",
    [
        f"`RateLimit({FAILURES})`",
        f"${SERVICE_BUS_OPERATION * 1_000_000:.2f} for a million Service Bus operations",
        f"${FUNCTIONS_EXECUTION * 1_000_000:.2f} for a million executions",
        f"${FUNCTIONS_GB_SECOND:.6f} for a GB-second",
        f"with {MEMORY * 1024:.0f} MB and at least {SHORTEST_EXECUTION * 1_000:.0f} ms",
        f"${STORE['Azure']['read'] * 10_000:.5f} for 10,000 calls to table storage",
    ],
)
def test_the_page_names_the_settings_and_prices_that_were_used(told: str) -> None:
    assert told in " ".join(PAGE.split())
