"""The tables of the pages about the test worlds are those of the worlds and the contract."""

from __future__ import annotations

import re

import pytest

from docs.pages import page
from local.testing.contract.deviations import table
from recoverable_local.testing.aws.fault_points import ANYWHERE, STEPS, possible_faults
from recoverable_local.testing.azure import fault_points as service_bus

PAGE = "use/testing.md"


def test_the_page_lists_the_deviations_that_the_contract_expects() -> None:
    found = re.search(r"<!-- deviations -->\n(.*?)\n<!--", page("internals/brokers.md"), re.DOTALL)
    assert found is not None
    assert found[1] == table()


def test_the_page_names_every_step_and_its_faults() -> None:
    rows = [line for line in page(PAGE).splitlines() if line.startswith("| ") and "`" in line]
    rows_by_step = {step: next((row for row in rows if f'`"{step}"`' in row), "") for step in STEPS}
    for step, row in rows_by_step.items():
        special = {fault.__name__ for fault in possible_faults("before", step) if fault not in ANYWHERE}
        assert special == set(re.findall(r"`([A-Z]\w+)", row)), step


@pytest.mark.parametrize("step", [*service_bus.STEPS, *service_bus.CALLS])
def test_the_page_names_every_step_on_service_bus_and_its_faults(step: str) -> None:
    on_service_bus = page(PAGE).partition("## Functions and Service Bus")[2]
    [row] = [line for line in on_service_bus.splitlines() if line.startswith("| ") and f'`"{step}"`' in line]
    possible = {fault.__name__ for fault in service_bus.possible_faults("before", step)}
    anywhere = {fault.__name__ for fault in service_bus.ANYWHERE}
    named = set(re.findall(r"`([A-Z]\w+)", row))
    assert named == (possible - anywhere if "anywhere" in row else possible)
