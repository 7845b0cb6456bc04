"""What the function may do, held against what the code and Lambda itself call: nothing more, nothing less, whatever features there are."""

from __future__ import annotations

import json
from collections import defaultdict
from functools import cache
from typing import Any

import pytest
from moto.iam.aws_managed_policies import aws_managed_policies_data

from infra.aws_calls import action, methods_called, methods_in
from infra.decided import decided
from infra.features import KEY, YOUR_ERRORS, YOUR_ORDERS, asking_for, every_pair, spoken
from infra.sam_template import ROOT, Template, template

SAM = template()
PACKAGE, EXAMPLE = ROOT / "adapters" / "recoverable" / "aws", ROOT / "functions" / "aws"
ORDERS, ERRORS, LOG, ANYTHING = "OrdersQueue", "ErrorQueue", "OrdersLog", "*"

QUEUES_CALLED = {
    "send_message_batch": {ORDERS, ERRORS},
    "delete_message_batch": {ORDERS},
    "change_message_visibility_batch": {ORDERS},
    "receive_message": {ORDERS},
    "delete_message": {ORDERS},
}
"""For each call that the package makes, the queues it makes it to: copies go to both, what was received came from one; the probe does
with its one message what the mapping does with a batch."""

KEY_USED = {
    "sqs:SendMessage": {"kms:GenerateDataKey", "kms:Decrypt"},
    "sqs:ReceiveMessage": {"kms:Decrypt"},
}
"""What SQS does with the key on behalf of who calls (Amazon SQS Developer Guide, "Key management", producers and consumers)."""

Permissions = dict[str, set[str]]


def listed(value: Any) -> list[Any]:
    """IAM takes one thing or a list of them."""
    return value if isinstance(value, list) else [value]


@cache
def stack(*features: str) -> Template:
    """The template with these features."""
    return decided(SAM, asking_for(*features))


def statements(*features: str) -> list[dict[str, Any]]:
    """Every statement of the role's policies."""
    policies = stack(*features)["Resources"]["OrdersRole"]["Properties"]["Policies"]
    return [statement for policy in policies for statement in policy["PolicyDocument"]["Statement"]]


def granted(*features: str) -> Permissions:
    """What the role allows, by the logical id or ARN of the resource."""
    allowed = defaultdict(set)
    for statement in statements(*features):
        for resource in listed(statement["Resource"]):
            name = resource["Fn::GetAtt"][0] if isinstance(resource, dict) else resource
            allowed[name].update(listed(statement["Action"]))
    return dict(allowed)


def aws_gives(policy: str, service: str) -> set[str]:
    """What one of AWS's own policies for functions allows of a service."""
    document = json.loads(aws_managed_policies_data)[policy]["Document"]
    actions = [name for statement in document["Statement"] for name in listed(statement["Action"])]
    return {name for name in actions if name.startswith(f"{service}:")}


def needed(*features: str) -> Permissions:
    """What polling, logging, the package's calls and the features need."""
    wanted = defaultdict[str, set[str]](set)
    wanted[ORDERS] |= aws_gives("AWSLambdaSQSQueueExecutionRole", "sqs")
    wanted[LOG] |= aws_gives("AWSLambdaSQSQueueExecutionRole", "logs") - {
        "logs:CreateLogGroup"
    }  # it is there
    for method in methods_called("sqs", PACKAGE):
        for queue in QUEUES_CALLED[method]:
            wanted[queue].add(action("sqs", method))
    if "a key" in features:
        calls = wanted[ORDERS] | wanted[ERRORS]
        wanted[KEY] = {use for call in calls for use in KEY_USED.get(call, ())}
    if "a VPC" in features:
        wanted[ANYTHING] = aws_gives("AWSLambdaVPCAccessExecutionRole", "ec2")
    yours = {
        ORDERS: ("an orders queue of yours", YOUR_ORDERS),
        ERRORS: ("an error queue of yours", YOUR_ERRORS),
    }
    names = {queue: arn for queue, (feature, arn) in yours.items() if feature in features}
    return {names.get(resource, resource): actions for resource, actions in wanted.items()}


def test_the_package_makes_the_calls_whose_queues_are_known() -> None:
    assert methods_called("sqs", PACKAGE) == set(QUEUES_CALLED)


def test_the_example_itself_makes_no_call() -> None:
    assert methods_called("sqs", EXAMPLE) == set()


@pytest.mark.parametrize("features", every_pair(), ids=spoken)
def test_the_role_allows_what_is_called_and_nothing_else(features: tuple[str, ...]) -> None:
    assert granted(*features) == needed(*features)


def test_only_lambda_itself_may_do_something_to_anything() -> None:
    """Calls from within a function name it (Lambda Developer Guide, "Using source function ARN"); those that make its interfaces do not."""
    wild = [statement for statement in statements("a VPC") if "*" in str(statement["Resource"])]

    assert [statement["Condition"] for statement in wild] == [{"Null": {"lambda:SourceFunctionArn": "true"}}]


@pytest.mark.parametrize("features", every_pair(), ids=spoken)
def test_no_action_has_a_wildcard(features: tuple[str, ...]) -> None:
    actions = set().union(*granted(*features).values())

    assert [name for name in actions if "*" in name] == []


def test_the_function_has_no_role_but_its_own_and_that_has_no_policy_but_this() -> None:
    function, role = (stack()["Resources"][name]["Properties"] for name in ("OrdersFunction", "OrdersRole"))

    assert (function["Role"], function.get("Policies"), role.get("ManagedPolicyArns")) == (
        {"Fn::GetAtt": ["OrdersRole", "Arn"]},
        None,
        None,
    )


@pytest.mark.parametrize(
    ("source", "methods"),
    [
        ("client.send_message(QueueUrl=url, MessageBody=body)", {"send_message"}),
        ("verb = self.client.purge_queue", {"purge_queue"}),
        ("sqs().delete_message_batch(QueueUrl=url, Entries=[])", {"delete_message_batch"}),
        ("getattr(client, 'receive_message')()", {"receive_message"}),
        ("client.close(); send_message = 1", set()),
    ],
)
def test_a_call_is_found_in_any_of_its_shapes(source: str, methods: set[str]) -> None:
    assert methods_in("sqs", source) == methods
