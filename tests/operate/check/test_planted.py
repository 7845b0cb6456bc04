"""Mistakes that a check let pass: each is found by its rule, or counts as not checked; what is right beside it is not found."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from operate.check import arm_templates as on_azure
from operate.check.conftest import Check, found, not_checked
from operate.check.templates import CODE, Template, attribute, changed, good, written

EVENT, REDRIVE = "Shop.Properties.Events.Orders.Properties", "Orders.Properties.RedrivePolicy"
VARIABLES = "Shop.Properties.Environment.Variables"
ELSEWHERE = "arn:aws:sqs:eu-west-1:210987654321:"
NOT_CHECKED = "not checked"


class Planted(NamedTuple):
    """A mistake in a template of AWS: the change, the rule, and a part of what is said of it."""

    change: Template
    rule: str
    text: str
    code: str = CODE


AWS: dict[str, Planted] = {
    "maxReceiveCount 1001": Planted({f"{REDRIVE}.maxReceiveCount": 1001}, "values", "maxReceiveCount is '1001'"),
    "VisibilityTimeout 43201": Planted({"Orders.Properties.VisibilityTimeout": 43201}, "values", "VisibilityTimeout is '43201'"),
    "a window of 301": Planted({f"{EVENT}.MaximumBatchingWindowInSeconds": 301}, "values", "is '301'"),
    "BatchSize 10001": Planted({f"{EVENT}.BatchSize": 10001}, "values", "BatchSize is '10001'"),
    "MaximumConcurrency 1": Planted({f"{EVENT}.ScalingConfig": {"MaximumConcurrency": 1}}, "values", "MaximumConcurrency is '1'"),
    "Timeout 901": Planted({"Shop.Properties.Timeout": 901}, "values", "Timeout is '901'"),
    "retention of 15 days": Planted({"Orders.Properties.MessageRetentionPeriod": 1296000}, "values", "MessageRetentionPeriod is '1296000'"),
    "python3.10": Planted({"Shop.Properties.Runtime": "python3.10"}, "runtime", "has the runtime python3.10"),
    "python2.7": Planted({"Shop.Properties.Runtime": "python2.7"}, "runtime", "has the runtime python2.7"),
    "a handler that its file does not define": Planted({"Shop.Properties.Handler": "app.handle"}, "handler", "which defines no such name"),
    "a mapping that is switched off": Planted({f"{EVENT}.Enabled": False}, "enabled", "is switched off"),
    "two functions on one queue": Planted({"Other": good()["Shop"]}, "only-reader", "each message runs in one of them only"),
    "two functions with filters": Planted({"Other": good()["Shop"], f"{EVENT}.FilterCriteria": {"Filters": [{"Pattern": "{}"}]}}, "only-reader", "that passes no filter of the function that receives it is deleted"),
    "SNS that SAM subscribes": Planted({"Shop.Properties.Events": {"E": {"Type": "SNS", "Properties": {"Topic": "arn:aws:sns:eu-west-1:42:t", "SqsSubscription": True}}}}, "partial-responses", "subscribe a queue of your own"),
    "SNS alone": Planted({"Shop.Properties.Events": {"E": {"Type": "SNS", "Properties": {"Topic": "arn:aws:sns:eu-west-1:42:t"}}}}, "invoked-by-queue", "SNS (Shop.E)"),
    "S3": Planted({"Shop.Properties.Events": {"E": {"Type": "S3", "Properties": {"Bucket": {"Ref": "B"}, "Events": "s3:ObjectCreated:*"}}}, "B": {"Type": "AWS::S3::Bucket"}}, "invoked-by-queue", "S3 (Shop.E)"),
    "a queue of another account that has the own one's name": Planted({f"{EVENT}.Queue": f"{ELSEWHERE}orders"}, NOT_CHECKED, "that of another account or region"),
    "dead letters to another account's queue of that name": Planted({f"{REDRIVE}.deadLetterTargetArn": f"{ELSEWHERE}errors"}, NOT_CHECKED, "that of another account or region"),
    "an error queue of another account with that name": Planted({f"{VARIABLES}.RECOVERABLE_ERROR_QUEUE": "https://sqs.eu-west-1.amazonaws.com/210987654321/errors"}, NOT_CHECKED, "that of another account or region"),
}  # fmt: skip

RIGHT_ON_AWS: dict[str, tuple[Template, str]] = {
    "values at their bounds": ({f"{EVENT}.ScalingConfig": {"MaximumConcurrency": 2}, f"{EVENT}.MaximumBatchingWindowInSeconds": 0}, CODE),
    "python3.11": ({"Shop.Properties.Runtime": "python3.11"}, CODE),
    "a handler that is imported": ({"Shop.Properties.Handler": "app.other"}, CODE + "from somewhere import other\n"),
    "a handler of any name": ({"Shop.Properties.Handler": "app.other"}, CODE + "from somewhere import *\n"),
    "a mapping that is switched on": ({f"{EVENT}.Enabled": True}, CODE),
    "a function on another queue": ({"Audit": {"Type": "AWS::Serverless::Function", "Properties": {"Runtime": "nodejs22.x", "Events": {"E": {"Type": "SQS", "Properties": {"Queue": attribute("Errors")}}}}}}, CODE),
}  # fmt: skip


@pytest.mark.parametrize("mistake", AWS)
def test_a_mistake_on_aws_is_found_or_counts(check: Check, tmp_path: Path, mistake: str) -> None:
    planted = AWS[mistake]

    ran = check(written(tmp_path, changed(good(), planted.change), planted.code), "--json", "--strict")

    said = (
        list(not_checked(ran).values())
        if planted.rule == NOT_CHECKED
        else [text for rule, text in found(ran) if rule == planted.rule]
    )
    assert (ran.status, any(planted.text in each for each in said)) == (1, True), ran.out


@pytest.mark.parametrize("form", RIGHT_ON_AWS)
def test_what_is_right_on_aws_is_not_found(check: Check, tmp_path: Path, form: str) -> None:
    change, code = RIGHT_ON_AWS[form]

    assert found(check(written(tmp_path, changed(good(), change), code), "--json")) == []


class PlantedOnAzure(NamedTuple):
    """A mistake on Azure: the change of the template, of host.json or of the code, the rule, and a part of what is said of it."""

    rule: str
    text: str
    change: Template | None = None
    host: dict[str, Any] = on_azure.HOST
    code: str = on_azure.CODE


def in_code(old: str, new: str) -> str:
    """Return the code of the app with one text in place of another."""
    assert on_azure.CODE.count(old) == 1
    return on_azure.CODE.replace(old, new)


QUEUE, SUBSCRIPTION = on_azure.OF_QUEUE, on_azure.OF_SUBSCRIPTION
CONSUMPTION = {"type": "Microsoft.Web/serverfarms", "name": "plan", "sku": {"name": "Y1"}}
TWENTY = {**on_azure.host(maxAutoLockRenewalDuration="00:20:00"), "functionTimeout": "00:20:00"}
SAMPLED = {**on_azure.HOST, "logging": {"applicationInsights": {"samplingSettings": {"isEnabled": True}}}}
AZURE: dict[str, PlantedOnAzure] = {
    "lockDuration PT10M": PlantedOnAzure("accepted-values", "a lockDuration of PT10M", {f"{QUEUE}.lockDuration": "PT10M"}),
    "maxDeliveryCount 5000": PlantedOnAzure("accepted-values", "a maxDeliveryCount of 5000", {f"{QUEUE}.maxDeliveryCount": 5000}),
    "maxDeliveryCount 0": PlantedOnAzure("accepted-values", "a maxDeliveryCount of 0", {f"{QUEUE}.maxDeliveryCount": 0}),
    "Consumption with 20 minutes": PlantedOnAzure("plan-timeout", "allows 0:10:00", {"plan": CONSUMPTION}, TWENTY),
    "autoDeleteOnIdle": PlantedOnAzure("queue-stays", "an autoDeleteOnIdle of", {f"{QUEUE}.autoDeleteOnIdle": "PT5M"}),
    "autoDeleteOnIdle of the error queue": PlantedOnAzure("queue-stays", "orders-error has an autoDeleteOnIdle", {f"{on_azure.OF_ERRORS}.autoDeleteOnIdle": "PT5M"}),
    "ReceiveDisabled": PlantedOnAzure("queue-stays", "the status ReceiveDisabled", {f"{QUEUE}.status": "ReceiveDisabled"}),
    "forwardTo one letter off": PlantedOnAzure("subscriptions", "forwards to order, and", {f"{SUBSCRIPTION}.forwardTo": "order"}),
    "sessions and forwardTo": PlantedOnAzure("subscriptions", "has sessions and forwardTo", {f"{SUBSCRIPTION}.requiresSession": True}),
    "time to live below the delays": PlantedOnAzure("delay-life", "keeps messages for 0:00:10", {f"{QUEUE}.defaultMessageTimeToLive": "PT10S"}),
    "sampling that drops traces": PlantedOnAzure("sampling", "do not exclude Trace", host=SAMPLED),
    "the whole setting's name as connection": PlantedOnAzure("connections", "a whole setting's name", code=in_code('"ServiceBus"', '"ServiceBus__fullyQualifiedNamespace"')),
    "a host name as connection": PlantedOnAzure("connections", "is not among the app settings", code=in_code('"ServiceBus"', '"shop.servicebus.windows.net"')),
    "a setting one letter off": PlantedOnAzure("entity-names", "%ORDERS_QUEU% is no app setting", code=in_code('"orders"', '"%ORDERS_QUEU%"')),
    "two messages of a session at a time": PlantedOnAzure("session-calls", "maxConcurrentCallsPerSession of 2", {f"{QUEUE}.requiresSession": True}, on_azure.host(maxConcurrentCallsPerSession=2), in_code('queue="orders"', 'queue="orders", sessions="ordered"')),
    "a name that nobody obeys": PlantedOnAzure("host-names", "has prefetchcounts", host=on_azure.host(prefetchCounts=5)),
    "no extensionBundle": PlantedOnAzure("extension-bundle", "has no extensionBundle", host={name: each for name, each in on_azure.HOST.items() if name != "extensionBundle"}),
    "the layout of extension 4": PlantedOnAzure(NOT_CHECKED, "messagehandleroptions", host=on_azure.host(messageHandlerOptions={"maxConcurrentCalls": 64})),
    "dynamic concurrency": PlantedOnAzure(NOT_CHECKED, "dynamicConcurrencyEnabled", host={**on_azure.HOST, "concurrency": {"dynamicConcurrencyEnabled": True}}),
}  # fmt: skip

RIGHT_ON_AZURE: dict[str, PlantedOnAzure] = {
    "values at their bounds": PlantedOnAzure("", "", {f"{QUEUE}.lockDuration": "PT5M", f"{QUEUE}.maxDeliveryCount": 2000}),
    "Consumption with 5 minutes": PlantedOnAzure("", "", {"plan": CONSUMPTION}),
    "Flex Consumption with 20 minutes": PlantedOnAzure("", "", {"plan": {**CONSUMPTION, "sku": {"name": "FC1", "tier": "FlexConsumption"}}}, TWENTY),
    "Active": PlantedOnAzure("", "", {f"{QUEUE}.status": "Active", f"{QUEUE}.autoDeleteOnIdle": "P10675199DT2H48M5.4775807S"}),
    "sampling without traces": PlantedOnAzure("", "", host={**on_azure.HOST, "logging": {"applicationInsights": {"samplingSettings": {"isEnabled": True, "excludedTypes": "Trace;Exception"}}}}),
    "all names of the extension": PlantedOnAzure("", "", host=on_azure.host(maxConcurrentSessions=8, enableCrossEntityTransactions=False, clientRetryOptions={"maxRetries": 3})),
}  # fmt: skip


def looked_at(check: Check, folder: Path, planted: PlantedOnAzure) -> Any:
    """Run a check of an app."""
    path = on_azure.written(folder, on_azure.changed(planted.change), planted.host, planted.code)
    return check(path, "--json", "--strict")


@pytest.mark.parametrize("mistake", AZURE)
def test_a_mistake_on_azure_is_found_or_counts(check: Check, tmp_path: Path, mistake: str) -> None:
    planted = AZURE[mistake]

    ran = looked_at(check, tmp_path, planted)

    said = (
        list(not_checked(ran).values())
        if planted.rule == NOT_CHECKED
        else [text for rule, text in found(ran) if rule == planted.rule]
    )
    assert (ran.status, any(planted.text in each for each in said)) == (1, True), ran.out


@pytest.mark.parametrize("form", RIGHT_ON_AZURE)
def test_what_is_right_on_azure_is_not_found(check: Check, tmp_path: Path, form: str) -> None:
    assert found(looked_at(check, tmp_path, RIGHT_ON_AZURE[form])) == []


def test_a_host_json_that_is_no_json_ends_with_2(check: Check, tmp_path: Path) -> None:
    path = on_azure.written(tmp_path)
    (tmp_path / "host.json").write_text("{", encoding="utf-8")

    ran = check(path)

    assert (ran.status, ran.out, "host.json is no JSON" in ran.err) == (2, "", True)
