"""Test the tables and schedules of a template, and the parts that AWS would refuse or this host leaves out."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from local.lambda_host.templates import document, written
from local.lambda_host.test_template import SHOP, read, stack_of
from recoverable_local.lambda_host.sam.stack import Schedule, Stack, Table
from recoverable_local.lambda_host.schedule import scheduled_event
from recoverable_operate.templates import TemplateError

KEYS = {
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
}
MINUTE = timedelta(minutes=1)
EACH_MINUTE = Schedule("Shop.Orders", "Shop", MINUTE)


def table_of(folder: Path, **properties: Any) -> Table:
    """Parse the one table of a template, with these properties added to its keys."""
    resource = {"Type": "AWS::DynamoDB::Table", "Properties": {**KEYS, **properties}}
    (table,) = read(written(folder, {"Resources": {"Rows": resource}})).tables()
    return table


def scheduled(folder: Path, *, function: dict[str, Any] | None = None, **properties: Any) -> Stack:
    """Parse a template whose function has one event, a schedule."""
    events = {"Orders": {"Type": "Schedule", "Properties": {"Schedule": "rate(1 minute)", **properties}}}
    given = {"EventInvokeConfig": {"MaximumRetryAttempts": 0}, **(function or {}), "Events": events}
    return stack_of(read(written(folder, document(function=given))))


def test_a_table_has_its_keys_and_a_name_made_of_the_stacks(tmp_path: Path) -> None:
    assert table_of(tmp_path) == Table("Rows", "shop-Rows", KEYS)


def test_a_table_has_its_own_name_and_its_indexes_and_nothing_of_capacity_and_backups(tmp_path: Path) -> None:
    index = {"IndexName": "by", "KeySchema": KEYS["KeySchema"], "Projection": {"ProjectionType": "ALL"}}
    units = {"ProvisionedThroughput": {"ReadCapacityUnits": "1", "WriteCapacityUnits": "1"}}

    table = table_of(
        tmp_path,
        TableName="rows",
        GlobalSecondaryIndexes=[{**index, **units}],
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
        **units,
    )

    assert table == Table("Rows", "rows", {**KEYS, "GlobalSecondaryIndexes": [index]})


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({"KeySchema": None}, r"Rows\.KeySchema is None; it must be a list of mappings"),
        ({"AttributeDefinitions": ["id"]}, r"Rows\.AttributeDefinitions is \['id'\]; it must be a list of map"),
        ({"LocalSecondaryIndexes": "by"}, r"Rows\.LocalSecondaryIndexes is 'by'; it must be a list of mappings"),
    ],
)
def test_a_table_without_readable_keys_is_refused(tmp_path: Path, properties: dict[str, Any], said: str) -> None:
    with pytest.raises(TemplateError, match=said):
        table_of(tmp_path, **properties)


def test_a_function_is_told_the_name_and_the_arn_of_a_table(tmp_path: Path) -> None:
    variables = {"NAME": {"Ref": "Rows"}, "ARN": {"Fn::GetAtt": ["Rows", "Arn"]}}
    template = document(function={"Environment": {"Variables": variables}})
    template["Resources"]["Rows"] = {"Type": "AWS::DynamoDB::Table", "Properties": KEYS}

    (function,) = stack_of(read(written(tmp_path, template))).functions

    assert function.environment == {"NAME": "shop-Rows", "ARN": "arn:aws:dynamodb:us-east-1:42:table/shop-Rows"}


def test_a_function_is_told_the_name_and_the_arn_of_a_function(tmp_path: Path) -> None:
    variables = {"NAME": {"Ref": "Shop"}, "ARN": {"Fn::GetAtt": ["Shop", "Arn"]}}
    named = {"FunctionName": {"Fn::Sub": "${AWS::StackName}-shop"}, "Environment": {"Variables": variables}}

    (function,) = stack_of(read(written(tmp_path, document(function=named)))).functions

    assert function.environment == {"NAME": "shop-shop", "ARN": "arn:aws:lambda:us-east-1:42:function:shop-shop"}


def test_a_name_of_a_function_that_only_aws_knows_is_nobodys_concern_who_does_not_ask(tmp_path: Path) -> None:
    template = document()
    unknown = {"FunctionName": {"Fn::ImportValue": "x"}}
    template["Resources"]["Other"] = {"Type": "AWS::Serverless::Function", "Properties": unknown}

    assert stack_of(read(written(tmp_path, template))).functions == (SHOP,)


@pytest.mark.parametrize(
    ("rate", "every"),
    [
        ("rate(1 minute)", MINUTE),
        ("rate(5 minutes)", timedelta(minutes=5)),
        ("rate(1 hour)", timedelta(hours=1)),
        ("rate( 2  days )", timedelta(days=2)),
    ],
)
def test_a_schedule_has_its_rate(tmp_path: Path, rate: str, every: timedelta) -> None:
    assert scheduled(tmp_path, Schedule=rate).schedules == (Schedule("Shop.Orders", "Shop", every),)


def test_a_schedule_has_its_input(tmp_path: Path) -> None:
    assert scheduled(tmp_path, Input='{"a": 1}').schedules == (Schedule("Shop.Orders", "Shop", MINUTE, '{"a": 1}'),)


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({"Schedule": "rate(1 minutes)"}, r"Orders\.Schedule is 'rate\(1 minutes\)'; AWS takes rate\(1 minute\)"),
        ({"Schedule": "rate(5 minute)"}, "AWS takes rate"),
        ({"Schedule": "rate(0 minutes)"}, "AWS takes rate"),
        ({"Schedule": "rate(1 week)"}, "AWS takes rate"),
        ({"Schedule": "rate(100000 days)"}, "AWS takes rate"),
        ({"Schedule": None}, r"Shop\.Orders has no Schedule; write for instance `Schedule: rate\(1 minute\)`"),
        ({"Input": "{"}, r"Shop\.Orders\.Input is no JSON"),
        ({"function": {"EventInvokeConfig": {"MaximumRetryAttempts": 3}}}, "write a whole number from 0 to 2"),
    ],
)
def test_a_schedule_that_aws_would_refuse_is_refused(tmp_path: Path, properties: dict[str, Any], said: str) -> None:
    with pytest.raises(TemplateError, match=said):
        scheduled(tmp_path, **properties)


@pytest.mark.parametrize(
    ("properties", "note"),
    [
        ({"Enabled": False}, "Shop.Orders is not Enabled, so nothing here invokes its function"),
        ({"State": "DISABLED"}, "Shop.Orders is not Enabled, so nothing here invokes its function"),
        (
            {"Schedule": "cron(0 10 * * ? *)"},
            "Shop.Orders is a schedule by cron or at, which this host does not support; write a rate",
        ),
    ],
)
def test_a_schedule_that_nothing_here_follows_is_said(tmp_path: Path, properties: dict[str, Any], note: str) -> None:
    found = scheduled(tmp_path, **properties)

    assert (found.functions, found.schedules, found.not_served) == ((), (), (note,))


def test_that_nothing_here_runs_again_what_failed_is_said(tmp_path: Path) -> None:
    found = scheduled(tmp_path, function={"EventInvokeConfig": {}})

    note = "Shop: when its schedule's invocation fails, Lambda runs it again up to 2 times; this host does not"
    assert (found.schedules, found.not_served) == ((EACH_MINUTE,), (note,))


def test_the_event_of_a_schedule_is_that_of_eventbridge() -> None:
    now = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)

    event = json.loads(scheduled_event(EACH_MINUTE, "arn:aws:lambda:eu-west-1:42:function:Shop", now))

    assert event | {"id": "drawn"} == {
        "version": "0",
        "id": "drawn",
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": "42",
        "time": "2026-01-02T03:04:05Z",
        "region": "eu-west-1",
        "resources": ["arn:aws:events:eu-west-1:42:rule/Shop.Orders"],
        "detail": {},
    }
