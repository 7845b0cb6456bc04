"""What `recoverable check` reads of templates in other forms than SAM's: plain CloudFormation, loops, parameters, queues of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from operate.check.conftest import Check, not_checked, rules_found
from operate.check.templates import ALL_DONE, RULES, Template, attribute, changed, good, good_fifo, written


def plain() -> Template:
    """Return the good template in the form that CDK synthesizes: a function, a mapping and a role as resources."""
    resources = good()
    shop = resources.pop("Shop")["Properties"]
    statements = [
        *shop["Policies"][0]["Statement"],
        {"Effect": "Allow", "Action": "sqs:*", "Resource": attribute("Orders")},
    ]
    return {
        **resources,
        "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {}}},
        "Policy": {
            "Type": "AWS::IAM::Policy",
            "Properties": {"Roles": [{"Ref": "Role"}], "PolicyDocument": {"Statement": statements}},
        },
        "Shop": {
            "Type": "AWS::Lambda::Function",
            "Properties": {**of_lambda(shop), "Code": "src", "Role": attribute("Role")},
        },
        "Mapping": {
            "Type": "AWS::Lambda::EventSourceMapping",
            "Properties": {
                "EventSourceArn": attribute("Orders"),
                "FunctionName": {"Ref": "Shop"},
                "FunctionResponseTypes": ["ReportBatchItemFailures"],
            },
        },
    }


def of_lambda(shop: dict[str, Any]) -> dict[str, Any]:
    """Return what a function of SAM has that one of CloudFormation has too."""
    return {name: shop[name] for name in ("Runtime", "Handler", "Timeout", "RecursiveLoop", "Environment")}


def rules(check: Check, *words: str) -> list[str]:
    return rules_found(check(*words, "--json"))


def test_plain_cloudformation_is_read_too(check: Check, tmp_path: Path) -> None:
    wrong = changed(plain(), {"Mapping.Properties.FunctionResponseTypes": None, "Shop.Properties.RecursiveLoop": None})

    assert check(written(tmp_path, plain())) == (0, ALL_DONE, "")
    assert rules(check, written(tmp_path, wrong)) == ["partial-responses", "recursive-loop"]


def test_a_mapping_names_its_function_by_arn_too(check: Check, tmp_path: Path) -> None:
    by_arn = changed(plain(), {"Mapping.Properties.FunctionName": attribute("Shop")})

    assert check(written(tmp_path, by_arn)).status == 0


@pytest.mark.parametrize("kind", ["Alias", "Version"])
def test_a_mapping_names_its_function_by_an_alias_too(check: Check, tmp_path: Path, kind: str) -> None:
    alias = {"Type": f"AWS::Lambda::{kind}", "Properties": {"FunctionName": {"Ref": "Shop"}}}
    wrong = changed(
        plain(), {"Mapping.Properties.FunctionResponseTypes": None, "Mapping.Properties.FunctionName": {"Ref": "Live"}}
    )

    assert rules(check, written(tmp_path, {**wrong, "Live": alias})) == ["partial-responses"]


def test_events_that_cannot_be_read_are_not_checked(check: Check, tmp_path: Path) -> None:
    included = changed(good(), {"Shop.Properties.Events": {"Fn::Transform": {"Name": "AWS::Include"}}})

    ran = check(written(tmp_path, included), "--json")

    assert (ran.status, rules_found(ran), "partial-responses" in not_checked(ran)) == (0, [], True)


def test_what_an_include_brings_is_not_checked_and_counted(check: Check, tmp_path: Path) -> None:
    ran = check(written(tmp_path, {**good(), "Fn::Transform": {"Name": "AWS::Include"}}), "--json")

    assert not_checked(ran) == {"all-parts": "Fn::Transform is not expanded here, and what it brings is not read"}


@pytest.mark.parametrize(
    "others",
    [
        {"EventSourceArn": "arn:aws:kinesis:eu-west-1:42:stream/orders", "FunctionName": {"Ref": "Shop"}},
        {"EventSourceArn": attribute("Orders"), "FunctionName": "somebody-elses"},
    ],
    ids=["of a stream", "for a function outside the template"],
)
def test_a_mapping_that_reads_no_queue_for_a_function_of_the_template_is_not_checked(
    check: Check, tmp_path: Path, others: dict[str, Any]
) -> None:
    more = {**plain(), "Others": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": others}}

    assert check(written(tmp_path, more)) == (0, ALL_DONE, "")


def test_globals_are_the_functions_own(check: Check, tmp_path: Path) -> None:
    shared = {"Function": {"Timeout": 60}}
    without = changed(good(), {"Shop.Properties.Timeout": None})

    assert rules(check, written(tmp_path, without, Globals=shared)) == ["visibility-timeout"]


def test_a_parameter_is_given_has_its_default_or_is_not_known(check: Check, tmp_path: Path) -> None:
    template = changed(good(), {"Shop.Properties.Timeout": {"Ref": "Timeout"}})
    with_default = written(tmp_path, template, Parameters={"Timeout": {"Type": "Number", "Default": 30}})

    assert rules(check, with_default) == []
    assert rules(check, with_default, "--parameter", "Timeout=60") == ["visibility-timeout"]
    assert check(written(tmp_path, template, Parameters={"Timeout": {"Type": "Number"}})) == (
        0,
        "not checked: visibility-timeout: Shop.Timeout: The parameter Timeout has no value here; give it with --parameter Timeout=VALUE.\n"
        f"Nothing found in what was checked.\n{RULES - 1} of {RULES} checks done ({RULES} rules, 1 function); 1 not: visibility-timeout.\n",
        "",
    )


def test_a_resource_whose_condition_does_not_hold_is_not_deployed(check: Check, tmp_path: Path) -> None:
    template = changed(good(), {"Shop.Condition": "Never"})
    path = written(tmp_path, template, Conditions={"Never": {"Fn::Equals": ["a", "b"]}})

    assert check(path).status == 3


def test_a_loop_is_expanded(check: Check, tmp_path: Path) -> None:
    resources: dict[str, Any] = changed(good(), {"Orders": None})
    orders = {**good()["Orders"], "Properties": {**good()["Orders"]["Properties"], "VisibilityTimeout": 30}}
    loop = {"Fn::ForEach::Queues": ["Name", ["Orders"], {"${Name}": orders}]}

    path = written(tmp_path, {**resources, **loop}, Transform="AWS::LanguageExtensions")

    assert rules(check, path) == ["visibility-timeout"]


def test_of_a_queue_outside_the_template_only_the_function_is_checked(check: Check, tmp_path: Path) -> None:
    others = changed(good(), {"Shop.Properties.Events.Orders.Properties.Queue": "arn:aws:sqs:eu-west-1:42:audit"})

    ran = check(written(tmp_path, others), "--json")

    assert (ran.status, rules_found(ran)) == (0, [])
    assert not_checked(ran)["visibility-timeout"] == (
        "the queue audit is not in this template; `recoverable check --queue` looks at a deployed one, and --assume says what it is like"
    )


def test_a_redrive_policy_is_written_as_json_too(check: Check, tmp_path: Path) -> None:
    policy = {"Fn::Sub": ['{"deadLetterTargetArn": "${To}", "maxReceiveCount": 3}', {"To": attribute("Errors")}]}

    assert rules(check, written(tmp_path, changed(good(), {"Orders.Properties.RedrivePolicy": policy}))) == [
        "max-receive-count"
    ]


def test_a_name_that_the_stack_completes_says_so(check: Check, tmp_path: Path) -> None:
    name = {"Fn::Sub": "${AWS::StackName}-orders"}

    ran = check(
        written(
            tmp_path, changed(good(), {"Orders.Properties.QueueName": name, "Orders.Properties.RedrivePolicy": None})
        )
    )

    assert ran.out.startswith("<stack>-orders: redrive-policy\n")


def test_a_fifo_queue_without_a_name_is_called_as_sqs_demands(check: Check, tmp_path: Path) -> None:
    nameless = changed(good_fifo(), {"Orders.Properties.QueueName": None, "Orders.Properties.RedrivePolicy": None})

    assert check(written(tmp_path, nameless)).out.startswith("Orders.fifo: redrive-policy\n")
