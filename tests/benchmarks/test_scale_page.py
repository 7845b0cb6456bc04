"""That docs/internals/scale.md has what the simulation prints: a row for each subject on each number of instances, under the same heads."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from simulation.__main__ import INSTANCES
from simulation.cell import Cell, Result, Spread
from simulation.prices import LAMBDA_GB_SECOND, LAMBDA_REQUEST, LOG_GB, MEMORY, SQS_REQUEST
from simulation.subjects import SUBJECTS
from simulation.tables import table

PAGE = (Path(__file__).parents[2] / "docs" / "internals/scale.md").read_text(encoding="utf-8")


def result(subject: str, instances: int, *, good: Spread | None) -> Result:
    return Result(
        cell=Cell(subject, 10, 1, instances),
        failing=Spread(1, 1.0, 1),
        good=good,
        failing_set_aside=0,
        good_set_aside=0,
        calls=0,
        requests=0,
        invocations=0,
        lambda_seconds=0.0,
        most_at_once=instances,
        until_done=timedelta(0),
        took=0.0,
    )


@pytest.mark.parametrize("good", [None, Spread(1, 1.0, 1)], ids=["all fail", "few fail"])
def test_the_page_has_the_tables_of_the_simulation(good: Spread | None) -> None:
    printed = table([result(subject, number, good=good) for subject in SUBJECTS for number in INSTANCES])
    heads, _, *rows = printed.splitlines()
    on_page = PAGE.split(f"\n{heads}\n")[1].split("\n\n")[0].splitlines()[1:]
    assert [row.split(" | ")[:2] for row in on_page] == [row.split(" | ")[:2] for row in rows]


@pytest.mark.parametrize(
    "price",
    [
        f"${SQS_REQUEST * 1_000_000:.2f} for a million requests",
        f"${LAMBDA_REQUEST * 1_000_000:.2f} for a million invocations",
        f"${LAMBDA_GB_SECOND:.10f} for a GB-second",
        f"with {MEMORY * 1024:.0f} MB",
        f"${LOG_GB:.2f} for a GB",
    ],
)
def test_the_page_names_the_prices_that_were_used(price: str) -> None:
    assert price in " ".join(PAGE.split())
