"""The rules have names of their own, and the page on `recoverable check` lists the rights that it takes."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from recoverable_operate.rules import SERVICE_BUS_RULES, SQS_RULES
from sources import OPERATE

AWS = OPERATE / "_check" / "aws_client.py"
ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "deploy/check.md").read_text(encoding="utf-8")


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
