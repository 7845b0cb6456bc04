"""The Terraform page for AWS: its files are Terraform's language, and have right all that `recoverable check` looks at."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from docs.pages import files, page
from docs.terraform import Reference, Resource, resources
from recoverable_operate._cli import main

PAGE = "deploy/aws.md"
MAIN = files(page(PAGE))["main.tf"]

ATTRIBUTES = {"arn": "Arn", "name": "QueueName"}
"""CloudFormation's names of what resources refer to."""


def logical(kind: str, name: str) -> str:
    return "".join(part.title() for part in f"{kind}_{name}".split("_"))


def value_of(value: Any) -> Any:
    """Return a value as CloudFormation writes it."""
    match value:
        case Reference("aws_sqs_queue", name, attribute):
            return {"Fn::GetAtt": [logical("aws_sqs_queue", name), ATTRIBUTES[attribute]]}
        case Reference("aws_iam_role", name, "arn"):
            return {"Fn::GetAtt": [logical("aws_iam_role", name), "Arn"]}
        case Reference(kind, name, _):
            return {"Ref": logical(kind, name)}
        case dict():
            return {key: value_of(inner) for key, inner in value.items()}
        case list():
            return [value_of(inner) for inner in value]
        case _:
            return value


def cloudformation(text: str) -> dict[str, Any]:
    """Return the file's resources as a template of CloudFormation, which is what the rules read."""
    found = [each for each in resources(text) if each.kind not in ELSEWHERE]
    made = {logical(each.kind, each.name): translated(each) for each in found}
    for each in resources(text):
        if each.kind == "aws_lambda_function_recursion_config":
            function = each.arguments["function_name"]
            properties = made[logical(function.kind, function.name)]["Properties"]
            properties["RecursiveLoop"] = each.arguments["recursive_loop"]
    return {"Resources": made}


def translated(each: Resource) -> dict[str, Any]:
    kind, properties = TRANSLATIONS[each.kind]
    return {"Type": kind, "Properties": properties(value_of(each.arguments))}


def renamed(given: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {names[name]: value for name, value in given.items() if name in names}


def queue(given: dict[str, Any]) -> dict[str, Any]:
    names = {
        "name": "QueueName",
        "visibility_timeout_seconds": "VisibilityTimeout",
        "message_retention_seconds": "MessageRetentionPeriod",
        "redrive_policy": "RedrivePolicy",
    }
    return renamed(given, names)


def lambda_function(given: dict[str, Any]) -> dict[str, Any]:
    names = {
        "function_name": "FunctionName",
        "role": "Role",
        "timeout": "Timeout",
        "runtime": "Runtime",
        "handler": "Handler",
    }
    [environment] = given["environment"]
    variables = {name: as_text(value) for name, value in environment["variables"].items()}
    return {**renamed(given, names), "Environment": {"Variables": variables}}


def as_text(value: Any) -> Any:
    return value if isinstance(value, dict) else str(value)


def mapping(given: dict[str, Any]) -> dict[str, Any]:
    names = {
        "event_source_arn": "EventSourceArn",
        "function_name": "FunctionName",
        "batch_size": "BatchSize",
        "maximum_batching_window_in_seconds": "MaximumBatchingWindowInSeconds",
        "function_response_types": "FunctionResponseTypes",
    }
    [scaling] = given["scaling_config"]
    return {**renamed(given, names), "ScalingConfig": {"MaximumConcurrency": scaling["maximum_concurrency"]}}


def role(given: dict[str, Any]) -> dict[str, Any]:
    return {"AssumeRolePolicyDocument": given["assume_role_policy"]}


def policy(given: dict[str, Any]) -> dict[str, Any]:
    return {"PolicyDocument": given["policy"], "Roles": [given["role"]]}


def alarm(given: dict[str, Any]) -> dict[str, Any]:
    dimensions = [{"Name": name, "Value": value} for name, value in given["dimensions"].items()]
    return {"MetricName": given["metric_name"], "Namespace": given["namespace"], "Dimensions": dimensions}


TRANSLATIONS: dict[str, tuple[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "aws_sqs_queue": ("AWS::SQS::Queue", queue),
    "aws_lambda_function": ("AWS::Lambda::Function", lambda_function),
    "aws_lambda_event_source_mapping": ("AWS::Lambda::EventSourceMapping", mapping),
    "aws_iam_role": ("AWS::IAM::Role", role),
    "aws_iam_role_policy": ("AWS::IAM::Policy", policy),
    "aws_cloudwatch_metric_alarm": ("AWS::CloudWatch::Alarm", alarm),
}
ELSEWHERE = {"aws_lambda_function_recursion_config", "aws_iam_role_policy_attachment"}
"""The one is a property of the function in CloudFormation; the other lets the function write its log."""


def rules_of(folder: Path, text: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the rules that find something in a file."""
    path = folder / "template.json"
    path.write_text(json.dumps(cloudformation(text)), encoding="utf-8")
    main(["check", "--json", str(path)])
    printed = capsys.readouterr()
    assert printed.err == ""
    return [read["rule"] for line in printed.out.splitlines() if "wrong" in (read := json.loads(line))]


def test_each_rule_is_checked_and_nothing_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rules_of(tmp_path, MAIN, capsys) == []


WRONG = {
    "partial-responses": ('["ReportBatchItemFailures"]', "[]"),
    "recursive-loop": ('recursive_loop = "Allow"', 'recursive_loop = "Terminate"'),
    "visibility-timeout": ("6 * local.timeout", "5 * local.timeout"),
    "max-receive-count": ("maxReceiveCount     = 50", "maxReceiveCount     = 10"),
    "error-queue-retention": ("fourteen_days     = 1209600", "fourteen_days     = 345600"),
    "rights": ('["sqs:SendMessage"]', '["sqs:GetQueueUrl"]'),
    "variables": ("immediate_retries = 5", "immediate_retries = -5"),
}


@pytest.mark.parametrize("rule", WRONG)
def test_a_file_that_has_something_wrong_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rule: str
) -> None:
    right, wrong = WRONG[rule]
    assert right in MAIN

    assert rule in rules_of(tmp_path, MAIN.replace(right, wrong), capsys)
