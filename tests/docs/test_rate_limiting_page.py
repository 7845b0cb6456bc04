"""The rate-limiting page's blocks of Python run as they stand, one after the other, and what it names is where it says."""

from __future__ import annotations

from typing import Any

import pytest

from docs.pages import blocks, page
from recoverable import Message, Recoverability
from recoverable.circuits import DynamoDbCircuit, Probe, TableCircuit

PAGE = "use/outages.md"


def place_order(message: Message) -> None:
    """The reader's own handler."""


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What a reader has who has run all the blocks, and only had a handler before."""
    made: dict[str, Any] = {"place_order": place_order}
    for block in blocks(PAGE, "python"):
        exec(compile(block, PAGE, "exec"), made)  # our own page
    return made


def test_the_first_block_shares_a_circuit(names: dict[str, Any]) -> None:
    recoverability: Recoverability = names["recoverability"]

    assert recoverability.rate_limit is not None
    assert isinstance(recoverability.rate_limit.store, DynamoDbCircuit)


def test_the_second_pauses_the_trigger_of_an_endpoint_that_limits_its_rate(names: dict[str, Any]) -> None:
    limit = names["handler"].breaker.limit

    assert (limit.on_started, limit.on_ended) == (names["pause"].start, names["pause"].stop)


def test_the_third_is_a_probe(names: dict[str, Any]) -> None:
    assert isinstance(names["probe"], Probe)


def test_the_store_for_azure_is_where_the_page_says() -> None:
    assert '`TableCircuit("circuits", "orders")`, from `recoverable.azure`' in page(PAGE)
    assert TableCircuit("circuits", "orders").name == "orders"
