"""The log on Functions, where nothing but the text arrives: each line ends with its facts, and the queries of the docs read them."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest

from builders import QUEUE
from observe.clouds import climb, failing, settings
from recoverable_local.testing import ServiceBusWorld, SqsWorld

PAGE = (Path(__file__).parents[2] / "docs" / "run/watch.md").read_text(encoding="utf-8")
TAILS = [
    "[action=immediate_retry attempt=1 round=0 queue=orders exception=builders.Boom]",
    "[action=delayed_retry attempt=2 round=0 queue=orders exception=builders.Boom]",
    "[action=immediate_retry attempt=1 round=1 queue=orders exception=builders.Boom]",
    "[action=move_to_error attempt=2 round=1 queue=orders exception=builders.Boom]",
]


@pytest.fixture(autouse=True)
def _everything_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="recoverable")


def texts(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the texts that the ladder logged."""
    return [record.getMessage() for record in caplog.records if record.name.startswith("recoverable.")]


def test_on_functions_each_line_ends_with_its_facts(
    service_bus_world: ServiceBusWorld, caplog: pytest.LogCaptureFixture
) -> None:
    climb(service_bus_world, failing, settings())

    assert [text[text.index("[") :] for text in texts(caplog)] == TAILS


def test_a_redactor_does_not_take_them_away(
    service_bus_world: ServiceBusWorld, caplog: pytest.LogCaptureFixture
) -> None:
    climb(service_bus_world, failing, settings(redact=lambda text: "(hidden)"))

    assert [text.splitlines() for text in texts(caplog)] == [[f"(hidden) {tail}", "(hidden)"] for tail in TAILS]


def test_on_lambda_the_facts_are_fields_and_the_text_is_as_it_was(
    sqs_world: SqsWorld, caplog: pytest.LogCaptureFixture
) -> None:
    climb(sqs_world, failing, settings())

    assert [text for text in texts(caplog) if "[action=" in text] == []


def extracted(name: str, text: str) -> str | None:
    """Return what the first query of the docs that extracts a column of this name finds in a line."""
    (pattern, *_) = re.findall(rf'{name} = (?:toint\()?extract\(@"([^"]+)", 1, message\)', PAGE)
    found = re.search(pattern, text)
    return found and found[1]


def test_the_queries_of_the_docs_find_the_facts_in_the_lines(
    service_bus_world: ServiceBusWorld, caplog: pytest.LogCaptureFixture
) -> None:
    climb(service_bus_world, failing, settings())

    columns = ("action", "attempt", "round", "queue", "exception")
    assert [tuple(extracted(name, text) for name in columns) for text in texts(caplog)] == [
        ("immediate_retry", "1", "0", QUEUE, "builders.Boom"),
        ("delayed_retry", "2", "0", QUEUE, "builders.Boom"),
        ("immediate_retry", "1", "1", QUEUE, "builders.Boom"),
        ("move_to_error", "2", "1", QUEUE, "builders.Boom"),
    ]


def test_the_queries_differ_nowhere_about_a_column() -> None:
    found = re.findall(r'(\w+) = (?:toint\()?extract\(@"([^"]+)", 1, message\)', PAGE)

    assert len(dict(found)) == len(set(found))
