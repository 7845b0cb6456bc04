"""The workbook: its queries are those of docs/run/watch.md, and read the lines that functions log."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest

from infra.azure.bicep import Deployment
from observe.clouds import climb, failing, settings
from recoverable_local.testing import ServiceBusWorld

ROOT = Path(__file__).parents[3]
WORKBOOK = json.loads((ROOT / "infra" / "azure" / "workbook.json").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "run/watch.md").read_text(encoding="utf-8")
QUERIES: dict[str, str] = {item["name"]: item["content"]["query"] for item in WORKBOOK["items"] if item["type"] == 3}
EXTRACTS = r'(\w+) = (?:toint\()?extract\(@"([^"]+)", 1, message\)'
ACTIONS = {"immediate_retry", "delayed_retry", "move_to_error", "discard", "deferral"}


def test_it_is_deployed_for_the_log_of_the_function_app() -> None:
    (workbook,) = Deployment().of_type("Microsoft.Insights/workbooks").values()
    properties = workbook["properties"]

    assert (properties["sourceId"], properties["serializedData"]) == (
        "<insights.id>",
        "<load_text_content(workbook.json)>",
    )


def test_its_columns_are_extracted_as_the_docs_do_it() -> None:
    ours = {pair for query in QUERIES.values() for pair in re.findall(EXTRACTS, query)}

    assert ours <= set(re.findall(EXTRACTS, PAGE))


def test_it_shows_each_action_of_the_ladder() -> None:
    named = {action for query in QUERIES.values() for action in re.findall(r'"(\w+)"', query) if action in ACTIONS}

    assert named == ACTIONS


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_each_query_finds_its_columns_in_a_line(
    query: str, service_bus_world: ServiceBusWorld, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="recoverable")
    climb(service_bus_world, failing, settings())

    (line, *_) = [record.getMessage() for record in caplog.records if record.name.startswith("recoverable.")]
    found: list[Any] = [re.search(pattern, line) for _, pattern in re.findall(EXTRACTS, query)]
    assert found
    assert all(found)


def test_each_of_its_times_follows_the_choice_of_the_reader() -> None:
    assert {item["content"]["timeContextFromParameter"] for item in WORKBOOK["items"] if item["type"] == 3} == {
        "TimeRange"
    }
