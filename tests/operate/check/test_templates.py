"""What `recoverable check` reads of templates in other forms than SAM's: plain CloudFormation, loops, parameters, queues of others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from operate.check.conftest import Check
from operate.check.templates import Template, attribute, changed, good, written
from recoverable.operate.check.cloudformation.document import parse_document
from recoverable.operate.check.cloudformation.reader import describe, of_document
from recoverable.operate.check.rule import Finding, results
from recoverable.operate.check.rules.every import SQS_RULES


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
            "Properties": {"Timeout": 30, "RecursiveLoop": "Allow", "Role": attribute("Role")},
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


def rules(check: Check, *words: str) -> list[str]:
    return [json.loads(line)["rule"] for line in check(*words, "--json").out.splitlines()]


def test_plain_cloudformation_is_read_too(check: Check, tmp_path: Path) -> None:
    wrong = changed(plain(), {"Mapping.Properties.FunctionResponseTypes": None, "Shop.Properties.RecursiveLoop": None})

    assert check(written(tmp_path, plain())) == (0, "Nothing found.\n", "")
    assert rules(check, written(tmp_path, wrong)) == ["partial-responses", "recursive-loop"]


def test_a_mapping_names_its_function_by_arn_too(check: Check, tmp_path: Path) -> None:
    by_arn = changed(plain(), {"Mapping.Properties.FunctionName": attribute("Shop")})

    assert check(written(tmp_path, by_arn)).status == 0


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

    assert check(written(tmp_path, more)) == (0, "Nothing found.\n", "")


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
        "Nothing found.\n",
        "",
    )


def test_a_resource_whose_condition_does_not_hold_is_not_deployed(check: Check, tmp_path: Path) -> None:
    template = changed(good(), {"Shop.Condition": "Never"})
    path = written(tmp_path, template, Conditions={"Never": {"Fn::Equals": ["a", "b"]}})

    assert check(path).err.endswith("no function of it reads an SQS queue, so there is nothing to check\n")


def test_a_loop_is_expanded(check: Check, tmp_path: Path) -> None:
    resources: dict[str, Any] = changed(good(), {"Orders": None})
    orders = {**good()["Orders"], "Properties": {**good()["Orders"]["Properties"], "VisibilityTimeout": 30}}
    loop = {"Fn::ForEach::Queues": ["Name", ["Orders"], {"${Name}": orders}]}

    path = written(tmp_path, {**resources, **loop}, Transform="AWS::LanguageExtensions")

    assert rules(check, path) == ["visibility-timeout"]


def test_of_a_queue_outside_the_template_only_the_function_is_checked(check: Check, tmp_path: Path) -> None:
    others = changed(good(), {"Shop.Properties.Events.Orders.Properties.Queue": "arn:aws:sqs:eu-west-1:42:others"})

    ran = check(written(tmp_path, others))

    assert ran.status == 0
    assert (
        "rights, key-access, error-queue-alarm: the queue others is none of this template; `recoverable check --queue`"
        in ran.out
    )


def test_a_redrive_policy_is_written_as_json_too(check: Check, tmp_path: Path) -> None:
    policy = {"Fn::Sub": ['{"deadLetterTargetArn": "${To}", "maxReceiveCount": 3}', {"To": attribute("Errors")}]}

    assert rules(check, written(tmp_path, changed(good(), {"Orders.Properties.RedrivePolicy": policy}))) == [
        "max-receive-count"
    ]


def test_one_function_of_a_template_is_checked(check: Check, tmp_path: Path) -> None:
    audit = changed(good(), {"Shop.Properties.RecursiveLoop": "Terminate"})["Shop"]
    path = written(tmp_path, {**good(), "Audit": audit})

    assert [rules(check, path, *words) for words in ([], ["--function", "Shop"])] == [["recursive-loop"], []]
    assert check(path, "--function", "Nobody") == (
        2,
        "",
        f"recoverable check: {path}: no function Nobody reads a queue; Shop, Audit do\n",
    )


def test_a_name_that_the_stack_completes_says_so(check: Check, tmp_path: Path) -> None:
    name = {"Fn::Sub": "${AWS::StackName}-orders"}

    ran = check(
        written(
            tmp_path, changed(good(), {"Orders.Properties.QueueName": name, "Orders.Properties.RedrivePolicy": None})
        )
    )

    assert ran.out.startswith("<stack>-orders: redrive-policy\n")


def test_a_rule_is_left_out(check: Check, tmp_path: Path) -> None:
    path = written(tmp_path, changed(good(), {"Shop.Properties.RecursiveLoop": "Terminate"}))

    assert check(path, "--ignore", "recursive-loop") == (0, "Nothing found.\n", "")


def test_no_retries_need_few_receives(check: Check, tmp_path: Path) -> None:
    few = changed(good(), {"Orders.Properties.RedrivePolicy.maxReceiveCount": 6})
    off = changed(few, {"Shop.Properties.Environment.Variables.RECOVERABLE_ENABLED": "false"})

    assert [rules(check, written(tmp_path, each)) for each in (few, off)] == [["max-receive-count"], []]


def test_a_rule_that_is_none_is_refused(check: Check, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        check(written(tmp_path, good()), "--ignore", "everything")

    assert "'everything' is no rule; there are partial-responses, " in capsys.readouterr().err


ROOT = Path(__file__).parents[3]
SHOP = parse_document((ROOT / "template.yaml").read_text(encoding="utf-8"))
KEY = "arn:aws:kms:eu-west-1:123456789012:key/1"
CHOICES: list[dict[str, str]] = [
    *({"FunctionTimeout": str(seconds)} for seconds in (10, 60, 120, 300, 900)),
    {"ImmediateRetries": "20", "BatchWindowSeconds": "60"},
    {"RateLimitAfter": "50", "PauseTrigger": "true"},
    {"Timeouts": "true", "LargeTimeouts": "true"},
    {"KmsKeyArn": KEY},
    {"OrdersQueueArn": "arn:aws:sqs:eu-west-1:123456789012:orders", "KmsKeyArn": KEY},
    {"ErrorQueueArn": "arn:aws:sqs:eu-west-1:123456789012:errors"},
    {"SubnetIds": "subnet-1", "SecurityGroupIds": "sg-1"},
]


@pytest.mark.parametrize("parameters", CHOICES, ids=str)
def test_nothing_is_found_in_the_example_shop_whatever_is_chosen(parameters: dict[str, str]) -> None:
    described = describe(of_document(SHOP, parameters))

    assert [each for one in described for each in results(SQS_RULES, one) if isinstance(each, Finding)] == []


@pytest.mark.parametrize(
    ("reserved", "most", "write"),
    [
        (5, 5, []),
        (5, 6, ["write ScalingConfig: {MaximumConcurrency: 5} on the mapping"]),
        (
            1,
            None,
            [
                "write ScalingConfig: {MaximumConcurrency: 2} on the mapping and ReservedConcurrentExecutions: 2 on the function"
            ],
        ),
    ],
)
def test_a_mapping_invokes_no_more_than_the_function_reserves(
    check: Check, tmp_path: Path, reserved: int, most: int | None, write: list[str]
) -> None:
    scaling = {} if most is None else {"MaximumConcurrency": most}
    event = {**good()["Shop"]["Properties"]["Events"]["Orders"]["Properties"], "ScalingConfig": scaling}
    changes = {
        "Shop.Properties.ReservedConcurrentExecutions": reserved,
        "Shop.Properties.Events.Orders.Properties": event,
    }

    found = check(written(tmp_path, changed(good(), changes)), "--json").out.splitlines()

    assert [json.loads(line)["write"] for line in found] == write


def test_provisioned_pollers_are_not_compared_with_reserved_concurrency(check: Check, tmp_path: Path) -> None:
    template = changed(
        good(),
        {
            "Shop.Properties.ReservedConcurrentExecutions": 5,
            "Shop.Properties.Events.Orders.Properties.ProvisionedPollerConfig": {"MinimumPollers": 2},
        },
    )

    assert check(written(tmp_path, template)).out.startswith(
        "not checked: reserved-concurrency: Shop.Orders has provisioned"
    )
