"""The templates on the deploying page: the one of its own, and what the reader adds to template.yaml."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cfnlint import api
from samtranslator.yaml_helper import yaml_parse

from docs.pages import blocks
from infra.sam_template import REGION, Template, template, transformed

YOUR_QUEUE, YOUR_KEY, VPC = (yaml_parse(block) for block in blocks("deploying-on-aws.md", "yaml"))


def with_added(own: Template, added: Template) -> Template:
    """The template with the fragment added, key by key."""
    merged = dict(own)
    for key, value in added.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = with_added(merged[key], value) if both else value
    return merged


SAM_S_OWN = "W3037"  # SAM's own SQSPollerPolicy names two batch actions that IAM does not have

TEMPLATES = {
    "a queue that you have": YOUR_QUEUE,
    "a key of your own": with_added(template(), YOUR_KEY),
    "inside a VPC": with_added(template(), VPC),
    "a key and a VPC": with_added(with_added(template(), YOUR_KEY), VPC),
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_of_the_page_is_clean_once_transformed(name: str) -> None:
    found = api.lint(json.dumps(transformed(TEMPLATES[name])), config={"regions": [REGION]})

    assert [f"{match.rule.id} {match.message}" for match in found if match.rule.id != SAM_S_OWN] == []


def allowed(resources: Template) -> set[str]:
    """The actions that the inline policies of the function's role allow."""
    policies = resources["OrdersFunctionRole"]["Properties"]["Policies"]
    statements: list[Any] = [each for policy in policies for each in policy["PolicyDocument"]["Statement"]]
    return {action for statement in statements for action in statement["Action"]}


def test_the_function_of_a_queue_that_you_have_may_do_what_the_ladder_does() -> None:
    needed = {"sqs:SendMessage*", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility", "sqs:ReceiveMessage"}

    assert needed <= allowed(transformed(YOUR_QUEUE)["Resources"])


def test_the_function_of_a_queue_that_you_have_is_set_as_the_page_says_it_must_be() -> None:
    resources = transformed(YOUR_QUEUE)["Resources"]

    function, mapping = (resources[name]["Properties"] for name in ("OrdersFunction", "OrdersFunctionOrders"))
    assert (function["RecursiveLoop"], mapping["FunctionResponseTypes"]) == (
        "Allow",
        ["ReportBatchItemFailures"],
    )
    assert 6 * function["Timeout"] == 180  # what the page sets as the queue's VisibilityTimeout


@pytest.mark.parametrize("queue", ["OrdersQueue", "ErrorQueue"])
def test_a_queue_with_your_key_has_no_other(queue: str) -> None:
    properties = TEMPLATES["a key of your own"]["Resources"][queue]["Properties"]

    assert (properties["SqsManagedSseEnabled"], properties["KmsMasterKeyId"]) == (False, {"Ref": "KeyArn"})
