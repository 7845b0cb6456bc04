"""The page on `recoverable check` lists the rules as they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from recoverable_operate.rules import SERVICE_BUS_RULES, SQS_RULES, Rule
from sources import OPERATE

AWS = OPERATE / "_check" / "aws_client.py"
ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "deploy/check.md").read_text(encoding="utf-8")


def rows(heading: str) -> dict[str, str]:
    """Return the table below a heading: what must be right, by the rule's name."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", section, re.MULTILINE))


@pytest.mark.parametrize(("heading", "rules"), [("SQS", SQS_RULES), ("Service Bus", SERVICE_BUS_RULES)])
def test_the_page_lists_the_rules(heading: str, rules: Sequence[Rule[Any]]) -> None:
    assert rows(f"What must be right on {heading}") == {each.name: each.must for each in rules}


def test_no_two_rules_have_the_same_name() -> None:
    names = [each.name for each in SQS_RULES] + [each.name for each in SERVICE_BUS_RULES]

    assert len(names) == len(set(names))


def test_the_page_lists_the_rights_of_each_call_and_each_call_only_reads() -> None:
    source = AWS.read_text(encoding="utf-8")
    called = set(re.findall(r"\b(?:client|iam|kms|cloudwatch)\.(\w+)\(", source)) - {"get_paginator"}
    called |= set(re.findall(r'get_paginator\("(\w+)"\)', source))
    rights = set(re.findall(r"`(?:lambda|iam|sqs|kms|cloudwatch):(\w+)`", PAGE))

    assert {name.partition("_")[0] for name in called} == {"describe", "get", "list"}
    assert {"".join(map(str.capitalize, name.split("_"))) for name in called} | {"GetQueueUrl"} == rights


def test_the_hook_of_pre_commit_checks_the_files_that_the_page_names() -> None:
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    names = [
        "template.yaml",
        "functions/aws/fifo/template.yml",
        "infra/main.bicep",
        "docs/template.md",
        "mytemplate.yaml",
    ]

    assert (hook["id"], hook["entry"]) == ("recoverable-check", "recoverable check")
    assert [name for name in names if re.search(hook["files"], name)] == names[:3]
