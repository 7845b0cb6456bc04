"""Test the errors for a template that AWS or this host would refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from local.lambda_host.test_template import read, stack
from recoverable_operate.templates._document import TemplateError, parse_parameters

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"queue": {"VisibilityTimeout": 1}}, r"visibility timeout of 'shop-orders' \(1 s\) is less than the Timeout of Shop \(120 s\)"),
    ({"queue": {"VisibilityTimeout": 43201}}, "Orders.VisibilityTimeout is '43201'; write a whole number from 0 to 43200"),
    ({"queue": {"Visibility": 1}}, "Orders.Visibility is no property of a queue; there are ContentBasedDeduplication"),
    ({"queue": {"QueueName": "orders.fifo"}}, "the names of FIFO queues, and only they, end in .fifo"),
    ({"queue": {"RedrivePolicy": {"maxReceiveCount": 3}}}, "Orders.RedrivePolicy has no deadLetterTargetArn"),
    (
        {"queue": {"RedrivePolicy": {"deadLetterTargetArn": "arn:aws:sqs:eu:1:graves.fifo", "maxReceiveCount": 3}}},
        "Orders.RedrivePolicy names 'graves.fifo'; SQS takes a FIFO queue for a FIFO queue",
    ),
    ({"queue": {"FifoQueue": "perhaps"}}, "Orders.FifoQueue is 'perhaps'; it must be true or false"),
    ({"event": {"BatchSize": 11}}, "MaximumBatchingWindowInSeconds of at least 1 when BatchSize is more than 10"),
    ({"event": {"BatchSize": 0}}, "Shop.Orders.BatchSize is '0'; write a whole number from 1 to 10000"),
    ({"event": {"BatchSize": 11}, "fifo": True}, "from 1 to 10"),
    ({"event": {"MaximumBatchingWindowInSeconds": 1}, "fifo": True}, "no batching window on FIFO queues"),
    ({"event": {"ScalingConfig": {"MaximumConcurrency": 1}}}, "MaximumConcurrency is '1'; .* from 2 to 1000"),
    ({"event": {"BatchSise": 1}}, "Shop.Orders.BatchSise is no property of an SQS event; there are BatchSize"),
    ({"event": {"FunctionResponseTypes": ["ReportBatchItemFailure"]}}, r"AWS takes \[ReportBatchItemFailures\] or nothing"),
    ({"function": {"Timeout": 901}}, "Shop.Timeout is '901'; write a whole number from 1 to 900"),
    ({"function": {"CodeUri": "nowhere/"}}, "nowhere', which is no folder"),
    ({"function": {"Handler": None}}, "Shop has no Handler; write for instance `Handler: orders.handler`"),
    ({"function": {"Environment": {"Variables": {"KEY": {"Fn::ImportValue": "x"}}}}}, "Shop.Environment.Variables.KEY: Fn::ImportValue"),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "said"), REFUSED)
def test_what_aws_or_this_host_would_refuse_is_said_before_anything_runs(
    tmp_path: Path, parts: dict[str, Any], said: str
) -> None:
    with pytest.raises(TemplateError, match=said):
        stack(tmp_path, **parts)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=r"There is no template .*give its path with --template"):
        read(tmp_path / "template.yaml")


DECLARED = {
    "Stage": {"Type": "String", "Default": "test", "AllowedValues": ["test", "production"]},
    "Seconds": {"Type": "Number", "Default": 10, "MinValue": 1, "MaxValue": 900},
    "Topic": {"Type": "String", "Default": "", "AllowedPattern": "^$|^arn:.+$"},
    "Names": {"Type": "CommaDelimitedList", "Default": "a,b"},
}


def test_parameters_are_those_given_over_the_defaults() -> None:
    expected = {"Stage": "production", "Seconds": "10", "Topic": "", "Names": ["a", "b"]}

    assert parse_parameters(DECLARED, {"Stage": "production"}) == expected


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"Stge": "test"}, "There is no parameter 'Stge'; the template has: Stage, Seconds, Topic, Names"),
        ({"Stage": "dev"}, "The parameter Stage is 'dev'; the template allows test, production"),
        ({"Seconds": "0"}, "The parameter Seconds is '0'; the template wants a number from 1 to 900"),
        ({"Seconds": "soon"}, "The parameter Seconds is 'soon'; the template wants a number"),
        ({"Topic": "topic"}, "The parameter Topic is 'topic'; the template wants"),
    ],
)
def test_a_parameter_that_the_template_does_not_allow_is_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(TemplateError, match=said):
        parse_parameters(DECLARED, given)


def test_a_parameter_without_a_value_must_be_given() -> None:
    with pytest.raises(TemplateError, match="give it with --parameter Key=VALUE"):
        parse_parameters({"Key": {"Type": "String"}}, {})
