"""What the function may do, held against what the code and Lambda itself call: nothing more, nothing less, whatever features there are."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import Any

import pytest

from infra.aws_calls import methods_called, methods_in
from infra.decided import decided
from infra.features import FEATURES, asking_for, every_pair, spoken
from infra.needs import CALLS, Permissions, listed, needed
from infra.sam_template import ROOT, Template, template

SAM = template()
PACKAGE, EXAMPLE = ROOT / "adapters" / "recoverable", ROOT / "functions" / "aws"
ROLES = ("OrdersRole", "ProbeRole", "TimeoutsRole", "StampRole")


@cache
def stack(*features: str) -> Template:
    """Return the template with these features."""
    return decided(SAM, asking_for(*features))


def statements(role: str, *features: str) -> list[dict[str, Any]]:
    """Return every statement of a role's policies: its own, those it refers to, and those that refer to it."""
    resources = stack(*features)["Resources"]
    properties = resources[role]["Properties"]
    documents = [policy["PolicyDocument"] for policy in properties["Policies"]]
    documents += [policy_of(resources, reference) for reference in properties.get("ManagedPolicyArns", ())]
    for resource in resources.values():
        if {"Ref": role} in resource["Properties"].get("Roles", []):
            documents.append(resource["Properties"]["PolicyDocument"])
    return [statement for document in documents for statement in document["Statement"]]


def policy_of(resources: Template, reference: dict[str, str]) -> Template:
    """Return the document of a policy of the template's own, the only ones that a role may refer to."""
    document: Template = resources[reference["Ref"]]["Properties"]["PolicyDocument"]
    return document


def granted(role: str, *features: str) -> Permissions:
    """Return what a role allows, by the logical id or ARN of the resource."""
    allowed = defaultdict(set)
    for statement in statements(role, *features):
        for resource in listed(statement["Resource"]):
            allowed[named(resource)].update(listed(statement["Action"]))
    return dict(allowed)


def named(resource: Any) -> str:
    """Return a resource of a statement by its logical id or ARN."""
    match resource:
        case {"Fn::GetAtt": [str(name), "Arn"]}:
            return name
        case {"Fn::Sub": [str(text), {"Bucket": bucket}]}:
            return text.replace("${Bucket}", named(bucket))
        case {"Fn::Sub": str(text)}:
            prefix = "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:event-source-mapping:"
            return text.removeprefix(prefix).strip("${}")
        case _:
            return str(resource)


@pytest.mark.parametrize("service", ["sqs", "dynamodb", "lambda", "s3"])
def test_the_endpoint_and_the_pause_make_the_listed_calls_and_no_others(service: str) -> None:
    files = {str(file.relative_to(PACKAGE)): file for file in (PACKAGE / "aws").rglob("*.py")}

    found = {(name, method) for name, file in files.items() for method in methods_called(service, file)}

    assert found == {(call.module, call.method) for call in CALLS if call.service == service and call.module in files}


@pytest.mark.parametrize("service", ["sqs", "dynamodb", "lambda", "s3"])
def test_the_example_itself_makes_no_call(service: str) -> None:
    assert methods_called(service, EXAMPLE) == set()


@pytest.mark.parametrize("features", every_pair(), ids=spoken)
def test_a_role_allows_what_is_called_and_nothing_else(features: tuple[str, ...]) -> None:
    roles = [role for role in ROLES if role in stack(*features)["Resources"]]

    assert {role: granted(role, *features) for role in roles} == {role: needed(role, *features) for role in roles}


def test_only_lambda_itself_may_do_something_to_anything() -> None:
    """Calls from within a function name it (Lambda Developer Guide, "Using source function ARN"); those that make its interfaces do not."""
    wild = [statement for statement in statements("OrdersRole", *FEATURES) if statement["Resource"] == "*"]

    assert {statement["Sid"]: statement.get("Condition") for statement in wild} == {
        "NetworkInterfaces": {"Null": {"lambda:SourceFunctionArn": "true"}},
        "Mappings": None,  # which only lists
    }


@pytest.mark.parametrize("role", ROLES)
def test_no_action_has_a_wildcard(role: str) -> None:
    actions = set().union(*granted(role, *FEATURES).values())

    assert [name for name in actions if "*" in name] == []


@pytest.mark.parametrize("name", ["Orders", "Probe", "Timeouts", "Stamp"])
def test_a_function_has_no_role_but_its_own(name: str) -> None:
    function = stack(*FEATURES)["Resources"][f"{name}Function"]["Properties"]

    assert (function["Role"], function.get("Policies")) == ({"Fn::GetAtt": [f"{name}Role", "Arn"]}, None)


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
