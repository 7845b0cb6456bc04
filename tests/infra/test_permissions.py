"""What the function may do, held against what the code and Lambda's event source mapping call: nothing more, nothing less."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from moto.iam.aws_managed_policies import aws_managed_policies_data

from infra.sam_template import ROOT, template
from infra.sqs_calls import action, methods_called, methods_in

SAM = template()
ORDERS, ERRORS, LOG = "OrdersQueue", "ErrorQueue", "OrdersLog"

QUEUES_CALLED = {
    "send_message_batch": {ORDERS, ERRORS},
    "delete_message_batch": {ORDERS},
    "change_message_visibility_batch": {ORDERS},
    "receive_message": {ORDERS},
    "delete_message": {ORDERS},
}
"""For each call that the package makes, the queues it makes it to: copies go to both, what was received came from one; the probe does
with its one message what the mapping does with a batch."""


def statements(policies: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Every statement of a role's policies."""
    for policy in policies:
        yield from policy["PolicyDocument"]["Statement"]


def listed(value: Any) -> list[Any]:
    """IAM takes one thing or a list of them."""
    return value if isinstance(value, list) else [value]


def granted() -> dict[str, set[str]]:
    """What the role allows, by the logical id of the resource."""
    allowed = defaultdict(set)
    for statement in statements(SAM["Resources"]["OrdersRole"]["Properties"]["Policies"]):
        for resource in listed(statement["Resource"]):
            allowed[resource["Fn::GetAtt"][0]].update(listed(statement["Action"]))
    return dict(allowed)


def aws_gives() -> set[str]:
    """What AWS's own policy for a function that reads a queue allows: what polling and logging need."""
    document = json.loads(aws_managed_policies_data)["AWSLambdaSQSQueueExecutionRole"]["Document"]
    return {allowed for statement in document["Statement"] for allowed in listed(statement["Action"])}


def needed() -> dict[str, set[str]]:
    """What polling, logging and the package's calls need, by the logical id of the resource."""
    polling = {name for name in aws_gives() if name.startswith("sqs:")}
    logging = {name for name in aws_gives() if name.startswith("logs:")} - {"logs:CreateLogGroup"}
    wanted = {
        ORDERS: polling,
        ERRORS: set[str](),
        LOG: logging,
    }  # the log group is the template's, never Lambda's
    for method in methods_called(ROOT / "adapters" / "recoverable" / "aws"):
        for queue in QUEUES_CALLED[method]:
            wanted[queue].add(action(method))
    return wanted


def test_the_package_makes_the_calls_whose_queues_are_known() -> None:
    assert methods_called(ROOT / "adapters" / "recoverable" / "aws") == set(QUEUES_CALLED)


def test_the_example_itself_makes_no_call() -> None:
    assert methods_called(ROOT / "functions" / "aws") == set()


def test_the_role_allows_what_is_called_and_nothing_else() -> None:
    assert granted() == needed()


def test_no_permission_has_a_wildcard() -> None:
    properties = SAM["Resources"]["OrdersRole"]["Properties"]

    assert "*" not in str(properties)
    assert "ManagedPolicyArns" not in properties


def test_the_function_has_no_role_but_its_own() -> None:
    properties = SAM["Resources"]["OrdersFunction"]["Properties"]

    assert (properties["Role"], properties.get("Policies")) == ({"Fn::GetAtt": ["OrdersRole", "Arn"]}, None)


@pytest.mark.parametrize(
    ("source", "methods"),
    [
        ("client.send_message(QueueUrl=url, MessageBody=body)", {"send_message"}),
        ("verb = self.client.purge_queue", {"purge_queue"}),
        ("sqs().delete_message_batch(QueueUrl=url, Entries=[])", {"delete_message_batch"}),
        ("client.close(); send_message = 1", set()),
    ],
)
def test_a_call_is_found_in_any_of_its_shapes(source: str, methods: set[str]) -> None:
    assert methods_in(source) == methods
