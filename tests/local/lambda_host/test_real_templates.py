"""Test that templates as teams have them run: loops, plain resources, JSON in texts, queues of others, and functions that do not run here."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from local.lambda_host.templates import FUNCTIONS, LONG, document, written
from local.lambda_host.test_template import ERRORS, MAPPING, ORDERS, SHOP, read, stack_of
from recoverable_local.lambda_host.sam.advice import advice
from recoverable_local.lambda_host.sam.stack import Queue, Redrive, Schedule, Stack
from recoverable_local.lambda_host.schedule import scheduled_event
from recoverable_operate.templates import TemplateError

OTHERS = "arn:aws:sqs:eu-west-1:111122223333:others"
STANDS_IN = "others is no queue of this template, so an empty one stands in for it; its messages and settings in AWS are not looked at"
REPORT = {"FunctionResponseTypes": ["ReportBatchItemFailures"]}
IMAGE = {"Type": "AWS::Serverless::Function", "Properties": {"PackageType": "Image", "Events": {}}}


def stack(folder: Path, template: dict[str, Any]) -> Stack:
    return stack_of(read(written(folder, template)))


def outside(name: str, *, seconds: int) -> Queue:
    visibility = timedelta(seconds=seconds)
    return Queue(f"outside {name}", name, name.endswith(".fifo"), visibility, {}, None, outside=True)


def with_resources(**resources: Any) -> dict[str, Any]:
    template = document()
    template["Resources"] |= resources
    return template


def plain(**changes: Any) -> dict[str, Any]:
    """Return the usual template with an event source mapping and a function that are CloudFormation's own, as CDK writes them."""
    template = document()
    shop = template["Resources"]["Shop"]["Properties"]
    del shop["Events"], shop["CodeUri"]
    mapping = {
        "EventSourceArn": {"Fn::GetAtt": ["Orders", "Arn"]},
        "FunctionName": {"Ref": "Shop"},
        **REPORT,
        **changes,
    }
    template["Resources"] |= {
        "Shop": {
            "Type": "AWS::Lambda::Function",
            "Properties": {**shop, "Code": {"S3Bucket": "assets", "S3Key": "a.zip"}},
            "Metadata": {"aws:asset:path": str(FUNCTIONS), "aws:asset:property": "Code"},
        },
        "Pipe": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": mapping},
    }
    return template


def test_a_redrive_policy_may_be_json_in_a_text(tmp_path: Path) -> None:
    policy = {"Fn::Sub": json.dumps({"deadLetterTargetArn": "${Errors.Arn}", "maxReceiveCount": 7})}

    found = stack(tmp_path, document(queue={"RedrivePolicy": policy}))

    assert found.queues == (ERRORS, replace(ORDERS, redrive=Redrive("shop-errors", 7)))


def test_a_redrive_policy_may_be_made_json_by_the_template(tmp_path: Path) -> None:
    policy = {"Fn::ToJsonString": {"deadLetterTargetArn": {"Fn::GetAtt": ["Errors", "Arn"]}, "maxReceiveCount": 10}}

    assert stack(tmp_path, document(queue={"RedrivePolicy": policy})).queues == (ERRORS, ORDERS)


def test_a_redrive_policy_that_is_no_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=r"Orders\.RedrivePolicy is 'errors', which is no JSON"):
        stack(tmp_path, document(queue={"RedrivePolicy": "errors"}))


def test_a_queue_outside_the_template_has_a_queue_that_stands_in_for_it(tmp_path: Path) -> None:
    found = stack(tmp_path, document(event={"Queue": OTHERS}))

    assert found.queues == (ERRORS, ORDERS, outside("others", seconds=6 * LONG))
    assert found.mappings == (replace(MAPPING, queue="others"),)
    assert found.not_served == (STANDS_IN,)


def test_an_error_queue_outside_the_template_has_one_too(tmp_path: Path) -> None:
    policy = {"deadLetterTargetArn": OTHERS, "maxReceiveCount": 10}

    found = stack(tmp_path, document(queue={"RedrivePolicy": policy}))

    assert found.queues == (ERRORS, replace(ORDERS, redrive=Redrive("others", 10)), outside("others", seconds=30))
    assert found.not_served == (STANDS_IN,)


def test_nothing_is_advised_about_a_queue_outside_the_template(tmp_path: Path) -> None:
    template = read(written(tmp_path, document(event={"Queue": OTHERS}, function={"RecursiveLoop": "Allow"})))

    assert advice(template, stack_of(template)) == ()


def test_a_queue_whose_name_is_only_known_in_aws_is_not_read_and_the_rest_runs(tmp_path: Path) -> None:
    template = document()
    events = template["Resources"]["Shop"]["Properties"]["Events"]
    events["Others"] = {"Type": "SQS", "Properties": {"Queue": {"Fn::ImportValue": "others"}}}

    found = stack(tmp_path, template)

    assert found.mappings == (MAPPING,)
    (note,) = found.not_served
    assert note.startswith(
        "nothing here reads the queue of Shop.Others: Shop.Others.Queue: Fn::ImportValue is not supported"
    )


def test_an_arn_that_is_none_of_a_queue_is_not_read(tmp_path: Path) -> None:
    template = document()
    events = template["Resources"]["Shop"]["Properties"]["Events"]
    events["Others"] = {"Type": "SQS", "Properties": {"Queue": "arn:aws:kinesis:eu-west-1:1:stream/others"}}

    assert stack(tmp_path, template).not_served == (
        "nothing here reads the queue of Shop.Others: Shop.Others.Queue is 'arn:aws:kinesis:eu-west-1:1:stream/others',"
        " which is no ARN of a queue; write !GetAtt Orders.Arn.",
    )


def test_a_plain_function_with_cdks_asset_and_a_plain_mapping_run(tmp_path: Path) -> None:
    assert stack(tmp_path, plain()) == Stack((ERRORS, ORDERS), (SHOP,), (replace(MAPPING, name="Pipe"),), ())


@pytest.mark.parametrize("name", [{"Fn::GetAtt": ["Shop", "Arn"]}, "Shop"])
def test_a_plain_mapping_finds_its_function_by_name_and_by_arn(tmp_path: Path, name: Any) -> None:
    assert stack(tmp_path, plain(FunctionName=name)).mappings == (replace(MAPPING, name="Pipe"),)


def test_a_plain_mapping_may_invoke_a_function_of_sam(tmp_path: Path) -> None:
    template = plain()
    template["Resources"]["Shop"] = document()["Resources"]["Shop"]

    assert stack(tmp_path, template).mappings == (MAPPING, replace(MAPPING, name="Pipe"))


MINUTES = timedelta(minutes=5)
QUIET = {"EventInvokeConfig": {"MaximumRetryAttempts": 0}}


def test_a_plain_rule_of_time_runs_its_function(tmp_path: Path) -> None:
    rule = {
        "ScheduleExpression": "rate(5 minutes)",
        "State": "ENABLED",
        "Targets": [{"Id": "Target0", "Arn": {"Fn::GetAtt": ["Shop", "Arn"]}, "Input": '{"a": 1}'}],
    }
    template = document(function=QUIET)
    template["Resources"]["Tick"] = {"Type": "AWS::Events::Rule", "Properties": rule}

    assert stack(tmp_path, template).schedules == (Schedule("Tick", "Shop", MINUTES, '{"a": 1}'),)


def test_a_plain_schedule_of_scheduler_runs_its_function(tmp_path: Path) -> None:
    properties = {
        "ScheduleExpression": "rate(5 minutes)",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "Target": {"Arn": {"Fn::GetAtt": ["Shop", "Arn"]}, "RoleArn": "arn:aws:iam::1:role/scheduler"},
    }
    template = document(function=QUIET)
    template["Resources"]["Tick"] = {"Type": "AWS::Scheduler::Schedule", "Properties": properties}

    assert stack(tmp_path, template).schedules == (Schedule("Tick", "Shop", MINUTES, by_scheduler=True),)


def test_a_plain_rule_of_events_is_noted(tmp_path: Path) -> None:
    rule = {"EventPattern": {"source": ["shop"]}, "Targets": [{"Id": "a", "Arn": {"Fn::GetAtt": ["Shop", "Arn"]}}]}
    template = with_resources(Placed={"Type": "AWS::Events::Rule", "Properties": rule})

    assert stack(tmp_path, template).not_served == (
        "Placed is an event of Type EventBridgeRule, which this host does not send",
    )


def test_a_plain_mapping_of_a_function_elsewhere_is_noted(tmp_path: Path) -> None:
    template = with_resources(Pipe={**plain(FunctionName="elsewhere")["Resources"]["Pipe"]})

    found = stack(tmp_path, template)

    assert found.mappings == (MAPPING,)
    assert found.not_served == ("Pipe invokes no function of this template, so nothing here reads its queue",)


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        (
            {"PackageType": "Image"},
            "Other is a container image, and is not run here; in a template for your machine give it CodeUri and Handler",
        ),
        ({"Runtime": "nodejs22.x"}, "Other has the Runtime 'nodejs22.x', and is not run here: the local host runs python3.x only"),
        ({"InlineCode": "x"}, "Other has its code not in a folder, and is not run here; give it CodeUri and Handler"),
        ({"CodeUri": "s3://a/b.zip"}, "Other has its code not in a folder, and is not run here; give it CodeUri and Handler"),
        (
            {"CodeUri": {"Bucket": "a", "Key": "b"}},
            "Other has its code not in a folder, and is not run here; give it CodeUri and Handler",
        ),
    ],
)  # fmt: skip
def test_a_function_that_cannot_run_here_is_noted_and_the_others_run(
    tmp_path: Path, properties: dict[str, Any], said: str
) -> None:
    template = document()
    template["Resources"]["Other"] = {
        **template["Resources"]["Shop"],
        "Properties": {**template["Resources"]["Shop"]["Properties"], **properties},
    }

    found = stack(tmp_path, template)

    assert (found.functions, found.mappings, found.not_served) == ((SHOP,), (MAPPING,), (said,))


def test_a_template_of_which_nothing_can_run_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=r"None of the functions can be run: Shop is a container image"):
        stack(tmp_path, document(function={"PackageType": "Image"}))


LOOP = {
    "Fn::ForEach::Queues": [
        "Name",
        {"Ref": "Names"},
        {
            "${Name}Queue": {
                "Type": "AWS::SQS::Queue",
                "Properties": {"QueueName": {"Fn::Sub": "${AWS::StackName}-${Name}"}, "VisibilityTimeout": {"Ref": "Seconds"}},
            }
        },
    ]
}  # fmt: skip
PARAMETERS = {
    "Names": {"Type": "CommaDelimitedList", "Default": "paper,ink"},
    "Seconds": {"Type": "Number", "Default": 9},
}


def test_a_loop_is_expanded(tmp_path: Path) -> None:
    template = document(Parameters=PARAMETERS, Transform=["AWS::LanguageExtensions", "AWS::Serverless-2016-10-31"])
    template["Resources"] |= LOOP
    seconds = timedelta(seconds=9)

    found = stack(tmp_path, template)

    assert found.queues[2:] == (
        Queue("paperQueue", "shop-paper", False, seconds, {}, None),  # noqa: FBT003 (fifo)
        Queue("inkQueue", "shop-ink", False, seconds, {}, None),  # noqa: FBT003
    )
    assert found.not_served == ()


def test_a_loop_within_a_loop_and_names_of_letters_alone_are_expanded(tmp_path: Path) -> None:
    inner = ["Kind", ["error", "retry"], {"&{Name}${Kind}": {"Type": "AWS::SQS::Queue"}}]
    template = document(Transform="AWS::LanguageExtensions")
    template["Resources"]["Fn::ForEach::Outer"] = ["Name", ["a-b"], {"Fn::ForEach::Inner": inner}]

    assert [queue.name for queue in stack(tmp_path, template).queues[2:]] == ["aberror", "abretry"]


def test_events_of_a_function_may_be_made_by_a_loop(tmp_path: Path) -> None:
    template = document(Transform="AWS::LanguageExtensions")
    events = template["Resources"]["Shop"]["Properties"]["Events"]
    template["Resources"]["Shop"]["Properties"]["Events"] = {
        "Fn::ForEach::Events": ["Name", ["Orders"], {"${Name}": events["Orders"]}]
    }

    assert stack(tmp_path, template).mappings == (MAPPING,)


def test_a_loop_without_its_transform_is_expanded_and_noted(tmp_path: Path) -> None:
    template = document(Parameters=PARAMETERS)
    template["Resources"] |= LOOP

    found = stack(tmp_path, template)

    assert len(found.queues) == 4
    assert found.not_served == (
        "CloudFormation expands Fn::ForEach only where the section Transform lists AWS::LanguageExtensions, before SAM's own",
    )


@pytest.mark.parametrize(
    ("loop", "said"),
    [
        (["Name", {"Fn::ImportValue": "names"}, {}], "Fn::ImportValue is not supported"),
        (["Name", "paper", {}], "a loop runs over a list of texts; this one's is 'paper'."),
        (["Name", ["paper"]], "a loop is a list of three: a name, a list of values, and a mapping whose keys contain ${name}."),
    ],
)  # fmt: skip
def test_a_loop_that_cannot_be_expanded_is_noted_and_the_rest_runs(tmp_path: Path, loop: Any, said: str) -> None:
    template = document(Transform="AWS::LanguageExtensions")
    template["Resources"]["Fn::ForEach::Queues"] = loop

    found = stack(tmp_path, template)

    assert found.mappings == (MAPPING,)
    (note,) = found.not_served
    assert note.startswith(f"Fn::ForEach::Queues is not expanded, and its resources are not run: {said}")


def test_a_schedule_of_eventbridge_scheduler_runs_with_the_event_that_scheduler_sends(tmp_path: Path) -> None:
    event = {"Type": "ScheduleV2", "Properties": {"ScheduleExpression": "rate(5 minutes)"}}
    function = {"EventInvokeConfig": {"MaximumRetryAttempts": 0}, "Events": {"Tick": event}}

    (schedule,) = stack(tmp_path, document(function=function)).schedules

    sent = json.loads(
        scheduled_event(schedule, "arn:aws:lambda:eu-west-1:42:function:Shop", datetime(2026, 1, 2, tzinfo=UTC))
    )
    assert schedule == Schedule("Shop.Tick", "Shop", timedelta(minutes=5), by_scheduler=True)
    assert sent == {
        "version": "0",
        "id": sent["id"],
        "detail-type": "Scheduled Event",
        "source": "aws.scheduler",
        "account": "42",
        "time": "2026-01-02T00:00:00Z",
        "region": "eu-west-1",
        "resources": ["arn:aws:scheduler:eu-west-1:42:schedule/default/Shop.Tick"],
        "detail": "{}",
    }


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({"ScheduleExpression": "cron(0 9 * * ? *)"}, "Shop.Tick is a schedule by cron or at, which this host does not support; write a rate"),
        ({"ScheduleExpression": "at(2026-01-02T00:00:00)"}, "Shop.Tick is a schedule by cron or at, which this host does not support; write a rate"),
        ({"ScheduleExpression": "rate(1 minute)", "State": "DISABLED"}, "Shop.Tick is not Enabled, so nothing here invokes its function"),
    ],
)  # fmt: skip
def test_a_schedule_that_is_not_run_is_noted(tmp_path: Path, properties: dict[str, Any], said: str) -> None:
    events = {
        "Tick": {"Type": "ScheduleV2", "Properties": properties},
        "Orders": document()["Resources"]["Shop"]["Properties"]["Events"]["Orders"],
    }

    assert stack(tmp_path, document(function={"Events": events})).not_served == (said,)


def test_a_schedule_without_an_expression_is_refused_by_the_name_of_the_property(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=r"Shop\.Tick has no ScheduleExpression; write for instance"):
        stack(tmp_path, document(function={"Events": {"Tick": {"Type": "ScheduleV2"}}}))


def test_a_parameter_from_ssm_that_nothing_uses_needs_no_value(tmp_path: Path) -> None:
    bootstrap = {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/cdk-bootstrap/hnb659fds/version"}

    assert stack(tmp_path, document(Parameters={"BootstrapVersion": bootstrap})).mappings == (MAPPING,)


def test_a_parameter_from_ssm_that_is_used_must_be_given(tmp_path: Path) -> None:
    parameters = {"Seconds": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/seconds"}}

    with pytest.raises(TemplateError, match="give it with --parameter Seconds=VALUE"):
        stack(tmp_path, document(Parameters=parameters, queue={"VisibilityTimeout": {"Ref": "Seconds"}}))
