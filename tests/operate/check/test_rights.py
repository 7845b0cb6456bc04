"""What `recoverable check` reads of the rights of a function: policies of each form that a template may have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from operate.check.conftest import Check, reported
from operate.check.templates import Template, attribute, changed, good, may, written

KEYS = ("rule", "wrong", "notChecked")
POLICIES = "Shop.Properties.Policies"
ORDERS, ERRORS = attribute("Orders"), attribute("Errors")
OWN = [may("sqs:SendMessage", "sqs:ChangeMessageVisibility", on="Orders"), may("sqs:SendMessage", on="Errors")]
BOTH = {"Effect": "Allow", "Action": "sqs:*", "Resource": [ORDERS, ERRORS]}
ANYWHERE = {"Effect": "Allow", "Action": ["sqs:Send*", "SQS:ChangeMessageVisibility"], "Resource": "*"}
NAMED = {"Effect": "Allow", "Action": "sqs:*", "Resource": {"Fn::Sub": "arn:aws:sqs:eu-west-1:42:*"}}
DENIED = {"Effect": "Deny", "Action": "sqs:SendMessage", "Resource": ERRORS}
SOMETIMES = {**BOTH, "Condition": {"Bool": {"aws:SecureTransport": "true"}}}
IMPORTED = {**BOTH, "Resource": {"Fn::ImportValue": "queues"}}
ERRORS_ONLY, ORDERS_ONLY = ["errors"], ["orders", "orders", "errors"]

FORMS: dict[str, tuple[list[Any], list[str]]] = {
    "a statement for each queue": ([{"Statement": OWN}], []),
    "one statement that is no list": ([{"Statement": BOTH}], []),
    "patterns of actions, on anything": ([{"Statement": [ANYWHERE]}], []),
    "a pattern of resources, of another account": ([{"Statement": [NAMED]}], []),
    "a short pattern of resources": ([{"Statement": [{**BOTH, "Resource": "arn:aws:sqs:*"}]}], []),
    "a pattern of another service": ([{"Statement": [{**BOTH, "Resource": "arn:aws:sns:*:*:*"}]}], ORDERS_ONLY),
    "a managed policy of AWS by name": (["AmazonSQSFullAccess"], []),
    "and by ARN": (["arn:aws:iam::aws:policy/AmazonSQSFullAccess"], []),
    "SAM's policy templates": (
        [
            {"SQSPollerPolicy": {"QueueName": attribute("Orders", "QueueName")}},
            {"SQSSendMessagePolicy": {"QueueName": attribute("Orders", "QueueName")}},
            {"SQSSendMessagePolicy": {"QueueName": attribute("Errors", "QueueName")}},
        ],
        [],
    ),
    "a denied one": ([{"Statement": [BOTH, DENIED]}], ERRORS_ONLY),
    "none": ([], ORDERS_ONLY),
    "one for another service": ([{"DynamoDBCrudPolicy": {"TableName": "orders"}}], ORDERS_ONLY),
}
UNSURE: dict[str, tuple[list[Any], str]] = {
    "a condition": ([{"Statement": [SOMETIMES]}], "of the role of Shop: a statement has a Condition"),
    "a resource that is not known": ([{"Statement": [IMPORTED]}], "of the role of Shop: a resource is not known before deployment"),
    "a managed policy of one's own": (["arn:aws:iam::42:policy/queues"], "of the role of Shop: the managed policy queues is not read here"),
}  # fmt: skip


def report(check: Check, folder: Path, resources: Template) -> list[dict[str, str]]:
    """Return what is reported on rights."""
    ran = check(written(folder, resources), "--json")
    return [{key: each[key] for key in KEYS if key in each} for each in reported(ran) if each["rule"] == "rights"]


@pytest.mark.parametrize("form", FORMS)
def test_what_is_missing_is_found(check: Check, tmp_path: Path, form: str) -> None:
    policies, missing = FORMS[form]

    found = report(check, tmp_path, changed(good(), {POLICIES: policies}))

    assert [each["wrong"].rpartition(" ")[2] for each in found] == missing


@pytest.mark.parametrize("form", UNSURE)
def test_what_cannot_be_told_is_not_checked(check: Check, tmp_path: Path, form: str) -> None:
    policies, why = UNSURE[form]

    assert report(check, tmp_path, changed(good(), {POLICIES: policies})) == [{"rule": "rights", "notChecked": why}]


def role(**properties: object) -> Template:
    """Return the good template with a role of its own, which may poll."""
    polls = ["arn:aws:iam::aws:policy/service-role/AWSLambdaSQSQueueExecutionRole"]
    return {
        **changed(good(), {POLICIES: None, "Shop.Properties.Role": attribute("Role")}),
        "Role": {"Type": "AWS::IAM::Role", "Properties": {"ManagedPolicyArns": polls, **properties}},
    }


def policy(kind: str, statements: list[Any], **properties: object) -> dict[str, Any]:
    """Return a policy as a resource."""
    return {"Type": f"AWS::IAM::{kind}", "Properties": {"PolicyDocument": {"Statement": statements}, **properties}}


ROLES: dict[str, Template] = {
    "a policy of its own": role(Policies=[{"PolicyName": "own", "PolicyDocument": {"Statement": OWN}}]),
    "a policy that names it": {**role(), "Own": policy("Policy", OWN, Roles=[{"Ref": "Role"}])},
    "a managed policy that names it": {**role(), "Own": policy("ManagedPolicy", OWN, Roles=[{"Ref": "Role"}])},
    "a managed policy that it names": {
        **role(ManagedPolicyArns=[{"Ref": "Own"}, "AWSLambdaSQSQueueExecutionRole"]),
        "Own": policy("ManagedPolicy", OWN),
    },
}


@pytest.mark.parametrize("form", ROLES)
def test_the_policies_of_a_role_are_found_wherever_they_stand(check: Check, tmp_path: Path, form: str) -> None:
    assert report(check, tmp_path, ROLES[form]) == []


@pytest.mark.parametrize("document", [{"Version": "2012-10-17"}, "Statement"], ids=["no statement", "a text"])
def test_a_policy_that_cannot_be_read_is_said(check: Check, tmp_path: Path, document: object) -> None:
    unread = role(Policies=[{"PolicyName": "own", "PolicyDocument": document}])

    assert report(check, tmp_path, unread) == [
        {"rule": "rights", "notChecked": "of Role: a policy document has no Statement that can be read here"}
    ]


def test_a_policy_of_another_role_allows_nothing(check: Check, tmp_path: Path) -> None:
    others = {**role(), "Own": policy("Policy", OWN, Roles=["somebody"])}

    assert len(report(check, tmp_path, others)) == 3


def test_a_role_outside_the_template_is_not_checked(check: Check, tmp_path: Path) -> None:
    outside = changed(role(), {"Shop.Properties.Role": "arn:aws:iam::42:role/shop"})

    assert report(check, tmp_path, outside) == [
        {"rule": "rights", "notChecked": "the role of Shop is arn:aws:iam::42:role/shop, which is not in this template"}
    ]
