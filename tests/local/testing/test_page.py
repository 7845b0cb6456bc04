"""Check that the examples of docs/use/testing.md run, and that its tables are the contract's."""

from __future__ import annotations

import re

import pytest

from docs.pages import examples, page, run_example
from local.testing.azure.contract import deviations as service_bus_contract
from local.testing.contract.deviations import table
from local.testing.hosts import contract as hosts
from recoverable_local.testing.aws.fault_points import ANYWHERE, STEPS, possible_faults
from recoverable_local.testing.azure import fault_points as service_bus

PAGE = "use/testing.md"


EXAMPLES = examples(PAGE)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_page_shows_what_works(name: str, request: pytest.FixtureRequest) -> None:
    run_example(EXAMPLES[name], request)


def test_the_page_lists_the_deviations_that_the_contract_expects() -> None:
    found = re.search(r"<!-- deviations -->\n(.*?)\n<!--", page(PAGE), re.DOTALL)
    assert found is not None
    assert found[1] == table()


def test_the_page_names_every_step_and_its_faults() -> None:
    rows = [line for line in page(PAGE).splitlines() if line.startswith("| ") and "`" in line]
    rows_by_step = {step: next((row for row in rows if f'`"{step}"`' in row), "") for step in STEPS}
    for step, row in rows_by_step.items():
        special = {fault.__name__ for fault in possible_faults("before", step) if fault not in ANYWHERE}
        assert special == set(re.findall(r"`([A-Z]\w+)", row)), step


def test_the_page_lists_the_contract_of_service_bus() -> None:
    found = re.search(r"<!-- contract -->\n(.*?)\n<!--", page(PAGE), re.DOTALL)
    assert found is not None
    assert found[1] == service_bus_contract.table()


@pytest.mark.parametrize(("name", "contract"), [("lambda", hosts.AWS), ("functions host", hosts.AZURE)])
def test_the_page_lists_the_contract_of_a_host(name: str, contract: hosts.Contract) -> None:
    found = re.search(rf"<!-- {name} -->\n(.*?)\n<!--", page(PAGE), re.DOTALL)
    assert found is not None
    assert found[1] == contract.table()


@pytest.mark.parametrize("step", [*service_bus.STEPS, *service_bus.CALLS])
def test_the_page_names_every_step_on_service_bus_and_its_faults(step: str) -> None:
    on_service_bus = page(PAGE).partition("## Functions and Service Bus")[2]
    [row] = [line for line in on_service_bus.splitlines() if line.startswith("| ") and f'`"{step}"`' in line]
    possible = {fault.__name__ for fault in service_bus.possible_faults("before", step)}
    anywhere = {fault.__name__ for fault in service_bus.ANYWHERE}
    named = set(re.findall(r"`([A-Z]\w+)", row))
    assert named == (possible - anywhere if "anywhere" in row else possible)
