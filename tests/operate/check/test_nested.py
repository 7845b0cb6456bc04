"""`recoverable check` follows nested stacks in the same folder and modules of Azure, and names those that it cannot follow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from operate.check.arm_templates import GOOD as ON_AZURE
from operate.check.arm_templates import module
from operate.check.arm_templates import written as written_arm
from operate.check.conftest import Check, not_checked, reported, rules_found
from operate.check.templates import RULES, Template, attribute, changed, good, written

QUEUES = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "queues.yaml"}}
OUTPUTS = {
    "Orders": {"Value": attribute("Orders")},
    "Errors": {"Value": attribute("Errors")},
    "ErrorName": {"Value": attribute("Errors", "QueueName")},
}


def outer(**queues: Any) -> Template:
    """Return a template whose queues are in a nested stack, which it is given by its outputs."""
    statements = {"Effect": "Allow", "Action": "sqs:*", "Resource": attribute("Queues", "Outputs.Orders")}
    errors = {"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": {"Fn::GetAtt": "Queues.Outputs.Errors"}}
    return changed(
        {"Queues": {**QUEUES, **queues}, "Shop": good()["Shop"]},
        {
            "Shop.Properties.Events.Orders.Properties.Queue": attribute("Queues", "Outputs.Orders"),
            "Shop.Properties.Environment.Variables.RECOVERABLE_ERROR_QUEUE": attribute("Queues", "Outputs.ErrorName"),
            "Shop.Properties.Policies": [{"Statement": [statements, errors]}],
        },
    )


def inner(folder: Path, changes: dict[str, Any] | None = None) -> None:
    """Write the nested stack."""
    resources = changed({key: good()[key] for key in ("Orders", "Errors")}, changes or {})
    (folder / "queues.yaml").write_text(json.dumps({"Resources": resources, "Outputs": OUTPUTS}), encoding="utf-8")


def test_a_nested_stack_is_read_with_its_outputs(check: Check, tmp_path: Path) -> None:
    inner(tmp_path)
    ran = check(written(tmp_path, outer()), "--strict")

    assert (ran.status, ran.out) == (
        0,
        f"Nothing found.\n{RULES + 1} of {RULES + 1} checks done ({RULES + 1} rules, 2 functions).\n",
    )


def test_what_is_wrong_in_a_nested_stack_is_found_in_its_file(check: Check, tmp_path: Path) -> None:
    inner(tmp_path, {"Orders.Properties.VisibilityTimeout": 1})

    [finding] = [each for each in reported(check(written(tmp_path, outer()), "--json")) if "wrong" in each]

    assert (finding["rule"], Path(finding["file"]).name) == ("visibility-timeout", "queues.yaml")


def test_a_function_in_a_nested_stack_is_given_its_queues_by_parameters(check: Check, tmp_path: Path) -> None:
    parameters = {"Queue": attribute("Orders"), "Name": attribute("Errors", "QueueName")}
    shop = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "shop.yaml", "Parameters": parameters}}
    function = changed(
        {"Shop": good()["Shop"]},
        {
            "Shop.Properties.Events.Orders.Properties": {"Queue": {"Ref": "Queue"}},
            "Shop.Properties.Environment.Variables.RECOVERABLE_ERROR_QUEUE": {"Ref": "Name"},
            "Shop.Properties.Policies": ["AmazonSQSFullAccess"],
        },
    )
    declared = {name: {"Type": "String", "Default": "wrong"} for name in parameters}
    (tmp_path / "shop.yaml").write_text(json.dumps({"Parameters": declared, "Resources": function}), encoding="utf-8")

    ran = check(written(tmp_path, {**changed(good(), {"Shop": None}), "Inner": shop}), "--json")

    assert (rules_found(ran), not_checked(ran)) == (["partial-responses"], {})


def test_a_parameter_that_is_given_what_is_not_known_has_not_its_default(check: Check, tmp_path: Path) -> None:
    seconds = {"Parameters": {"Seconds": {"Type": "Number", "Default": 1}}}
    resources = changed({key: good()[key] for key in ("Orders", "Errors")}, {"Orders.Properties.VisibilityTimeout": {"Ref": "Seconds"}})  # fmt: skip
    (tmp_path / "queues.yaml").write_text(
        json.dumps({"Resources": resources, "Outputs": OUTPUTS, **seconds}), encoding="utf-8"
    )
    given = changed(outer(), {"Queues.Properties.Parameters": {"Seconds": {"Fn::ImportValue": "x"}}})

    ran = check(written(tmp_path, given), "--json")

    assert (rules_found(ran), "visibility-timeout" in not_checked(ran)) == ([], True)


def test_a_stack_is_given_the_outputs_of_one_that_stands_behind_it(check: Check, tmp_path: Path) -> None:
    inner(tmp_path)
    function = changed(
        {"Shop": good()["Shop"]},
        {
            "Shop.Properties.Events.Orders.Properties": {"Queue": {"Ref": "Queue"}},
            "Shop.Properties.Environment.Variables.RECOVERABLE_ERROR_QUEUE": {"Ref": "Name"},
            "Shop.Properties.Policies": ["AmazonSQSFullAccess"],
        },
    )
    declared = {name: {"Type": "String"} for name in ("Queue", "Name")}
    (tmp_path / "shop.yaml").write_text(json.dumps({"Parameters": declared, "Resources": function}), encoding="utf-8")
    parameters = {"Queue": attribute("Queues", "Outputs.Orders"), "Name": attribute("Queues", "Outputs.ErrorName")}
    shop = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "shop.yaml", "Parameters": parameters}}

    ran = check(written(tmp_path, {"A": shop, "Queues": QUEUES}), "--json")

    assert (rules_found(ran), not_checked(ran)) == (["partial-responses"], {})


@pytest.mark.parametrize(
    ("properties", "why"),
    [
        ({"TemplateURL": "https://s3.amazonaws.com/b/t.yaml"}, "its template is not a file here"),
        ({"TemplateURL": {"Fn::ImportValue": "x"}}, "Queues.TemplateURL: Fn::ImportValue is not supported here"),
        ({"TemplateURL": "nowhere.yaml"}, "[Errno 2] No such file or directory"),
        ({"TemplateURL": "template.yaml"}, "it is nested in itself, or too deep"),
        ({"TemplateURL": 5}, "its template is not a file here"),
        ({}, "its template is not a file here"),
    ],
    ids=str,
)
def test_a_nested_stack_that_cannot_be_followed_is_named(
    check: Check, tmp_path: Path, properties: dict[str, Any], why: str
) -> None:
    stack = {"Type": "AWS::CloudFormation::Stack", "Properties": properties}
    ran = check(written(tmp_path, {**good(), "Queues": stack}), "--json")

    assert (ran.status, rules_found(ran)) == (0, [])
    assert not_checked(ran)["all-parts"].startswith(f"the nested stack Queues is not read: {why}")


def test_globals_reach_a_function_of_a_mapping_that_is_a_resource(check: Check, tmp_path: Path) -> None:
    mapping = {"EventSourceArn": attribute("Orders"), "FunctionName": {"Ref": "Shop"}, "FunctionResponseTypes": ["ReportBatchItemFailures"]}  # fmt: skip
    resources = {
        **changed(good(), {"Shop.Properties.Events": None, "Shop.Properties.Timeout": None, "Shop.Properties.Runtime": None}),
        "Mapping": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": mapping},
    }  # fmt: skip
    shared = {"Function": {"Timeout": 60, "Runtime": "python3.13"}}
    foreign = {"Function": {"Timeout": 60, "Runtime": "nodejs22.x"}}

    assert rules_found(check(written(tmp_path, resources, Globals=shared), "--json")) == ["visibility-timeout"]
    assert check(written(tmp_path, resources, Globals=foreign)).out.startswith("left alone")


MODULE = {
    "bus": {"existing": True, "type": "Microsoft.ServiceBus/namespaces", "name": "shop"},
    "it": {
        "type": "Microsoft.ServiceBus/namespaces/queues",
        "name": "[format('shop/{0}', parameters('queue'))]",
        "properties": {"maxDeliveryCount": 3},
    },
}
QUEUE = {"queue": {"type": "string"}}


@pytest.mark.parametrize(
    ("condition", "queue", "rules"),
    [
        (True, "refunds", ["max-delivery-count", "dead-letters"]),
        ("[equals(1, 2)]", "refunds", ["entity-names"]),
        (True, "other", []),
    ],
)
def test_a_module_is_read_as_it_is_used(
    check: Check, tmp_path: Path, condition: object, queue: str, rules: list[str]
) -> None:
    code = (
        "from recoverable.azure import ServiceBusEndpoint\n"
        "refunds = ServiceBusEndpoint(print, queue='refunds', connection='ServiceBus')\n"
        "app.register_functions(refunds.blueprint())\n"
    )
    orders = ON_AZURE["ordersQueue"]
    near = {"ordersQueue": {**orders, "name": "shop/refundz"}} if isinstance(condition, str) else {}
    more = module(MODULE, condition=condition, given={"queue": {"value": queue}}, parameters=QUEUE)
    path = written_arm(tmp_path, {**ON_AZURE, **near, "more": more}, code=code)

    found = rules_found(check(path, "--json"))

    assert [each for each in found if each not in ("roles", "same-error-queue")] == rules


def test_a_module_whose_template_is_elsewhere_is_named(check: Check, tmp_path: Path) -> None:
    linked = {
        "type": "Microsoft.Resources/deployments",
        "name": "more",
        "properties": {"templateLink": {"uri": "https://x.test/t.json"}},
    }
    path = written_arm(tmp_path, {**ON_AZURE, "more": linked})

    ran = check(path, "--json", "--strict")

    why = "the module more is not read: its template is not in this file"
    assert (ran.status, rules_found(ran), not_checked(ran)["all-parts"]) == (1, [], why)
