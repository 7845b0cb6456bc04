"""Test the filters of an event source mapping: which messages pass, which patterns are refused, and that the others are deleted."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from local.lambda_host.conftest import Start
from local.lambda_host.test_template import stack
from recoverable_local.lambda_host import FilteredOut
from recoverable_local.lambda_host.filtering import passes
from recoverable_operate.templates import TemplateError

LARGE = {"body": {"total": [{"numeric": [">", 100]}]}}
PAPER = {"body": {"shelf": ["paper"]}}
PLAIN = {"body": ["paper"]}

CASES: list[tuple[str, list[dict[str, Any]], bool]] = [
    ("anything", [], True),
    ('{"total": 101}', [LARGE], True),
    ('{"total": 100}', [LARGE], False),
    ('{"total": 100, "shelf": "paper"}', [LARGE, PAPER], True),
    ('{"shelf": "ink"}', [PAPER], False),
    ('{"shelf": "ink"}', [{"body": {"shelf": [{"anything-but": ["paper"]}]}}], True),
    ("{}", [{"body": {"shelf": [{"exists": False}]}}], True),
    ("paper", [PLAIN], True),
    ("ink", [PLAIN], False),
    ("paper", [PAPER], False),
    ('{"shelf": "paper"}', [PLAIN], False),
]


@pytest.mark.parametrize(("body", "filters", "expected"), CASES)
def test_a_message_passes_as_lambda_says(body: str, filters: list[dict[str, Any]], expected: bool) -> None:  # noqa: FBT001
    assert passes({"body": body}, filters) is expected


def criteria(*patterns: Any) -> dict[str, Any]:
    return {"FilterCriteria": {"Filters": [{"Pattern": json.dumps(pattern)} for pattern in patterns]}}


def test_a_mapping_has_its_filters(tmp_path: Path) -> None:
    assert stack(tmp_path, event=criteria(LARGE, PAPER)).mappings[0].filters == (LARGE, PAPER)


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ({"Filters": [{"Pattern": "{"}]}, "is no filter"),
        ({"Filters": ["body"]}, "is no filter"),
        ({"Filters": [{"Pattern": '{"messageId": ["1"]}'}]}, "does not filter by body, and filters of SQS can do nothing else"),
        ({"Filters": {}}, "AWS takes a list of up to 10"),
    ],
)  # fmt: skip
def test_filters_that_aws_would_refuse_are_refused(tmp_path: Path, filters: Any, said: str) -> None:
    with pytest.raises(TemplateError, match=said):
        stack(tmp_path, event={"FilterCriteria": filters})


@pytest.mark.slow
def test_what_passes_no_filter_is_deleted_and_the_function_never_sees_it(start: Start) -> None:
    running = start(event=criteria({"body": {"do": ["succeed"]}}))

    dropped = running.send("fail")
    kept = running.send("succeed")

    running.host.run_until(lambda: running.host.queue("orders").depth().total == 0, deadline=timedelta(seconds=60))
    assert [entry.message_ids for entry in running.all(FilteredOut)] == [(dropped,)]
    assert [one for ended in running.ended(1) for one in ended.completed] == [kept]
