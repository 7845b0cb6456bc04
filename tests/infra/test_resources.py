"""What the transform makes of the function, its mapping and the alarms: settings without which messages are lost or nobody is notified."""

from __future__ import annotations

from typing import Any

import pytest

from infra.decided import decided
from infra.sam_template import template, transformed

CHOSEN = {"BatchSize": 7, "BatchWindowSeconds": 6, "MaximumConcurrency": 5, "ImmediateRetries": 4}
STACK = transformed(decided(template(), {**CHOSEN, "AlarmTopicArn": "a topic"}))["Resources"]
SILENT = decided(template(), {})["Resources"]
ALARMS = {name: kept["Properties"] for name, kept in STACK.items() if kept["Type"] == "AWS::CloudWatch::Alarm"}


def attribute(resource: str, name: str) -> dict[str, list[str]]:
    """Return how a template refers to an attribute of a resource."""
    return {"Fn::GetAtt": [resource, name]}


def watched(alarm: dict[str, Any]) -> tuple[Any, ...]:
    """Return what an alarm watches: namespace, metric, dimensions."""
    (dimension,) = alarm["Dimensions"]
    return alarm["Namespace"], alarm["MetricName"], dimension["Name"], dimension["Value"]


def test_lambda_does_not_take_retries_for_a_runaway_loop() -> None:
    assert STACK["OrdersFunction"]["Properties"]["RecursiveLoop"] == "Allow"


def test_the_mapping_reads_the_orders_queue_and_deletes_only_what_succeeded() -> None:
    assert STACK["OrdersFunctionOrders"]["Properties"] == {
        "EventSourceArn": attribute("OrdersQueue", "Arn"),
        "FunctionName": {"Ref": "OrdersFunction"},
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
        "BatchSize": 7,
        "MaximumBatchingWindowInSeconds": 6,
        "ScalingConfig": {"MaximumConcurrency": 5},
        "Enabled": True,
    }


def test_the_function_knows_its_ladder_its_queues_and_that_nothing_limits_it() -> None:
    assert STACK["OrdersFunction"]["Properties"]["Environment"]["Variables"] == {
        "RECOVERABLE_ERROR_QUEUE": attribute("ErrorQueue", "QueueName"),
        "RECOVERABLE_IMMEDIATE_RETRIES": 4,
        "RECOVERABLE_DELAYED_RETRIES": 3,
        "RECOVERABLE_TIME_INCREASE": "10s",
        "RECOVERABLE_RATE_LIMIT_AFTER": 0,
        "PAUSE_TRIGGER": "false",
        "PLACED_QUEUE": attribute("PlacedQueue", "QueueName"),
        "ORDERS_QUEUE_ARN": attribute("OrdersQueue", "Arn"),
    }


@pytest.mark.parametrize("queue", ["OrdersQueue", "ErrorQueue", "PlacedQueue"])
def test_a_queue_outlives_the_stack(queue: str) -> None:
    kept = (STACK[queue]["DeletionPolicy"], STACK[queue]["UpdateReplacePolicy"])

    assert kept == ("RetainExceptOnCreate", "Retain")


def test_the_alarms_watch_both_queues_and_the_loop_detection() -> None:
    errors, orders = attribute("ErrorQueue", "QueueName"), attribute("OrdersQueue", "QueueName")

    assert {name: watched(alarm) for name, alarm in ALARMS.items()} == {
        "ErrorQueueDepthAlarm": ("AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", errors),
        "ErrorQueueAgeAlarm": ("AWS/SQS", "ApproximateAgeOfOldestMessage", "QueueName", errors),
        "OrdersQueueAgeAlarm": ("AWS/SQS", "ApproximateAgeOfOldestMessage", "QueueName", orders),
        "RecursionAlarm": ("AWS/Lambda", "RecursiveInvocationsDropped", "FunctionName", {"Ref": "OrdersFunction"}),
    }


@pytest.mark.parametrize("name", ALARMS)
def test_an_alarm_reaches_the_topic_if_there_is_one(name: str) -> None:
    actions = (ALARMS[name].get("AlarmActions"), SILENT[name]["Properties"].get("AlarmActions"))

    assert actions == (["a topic"], None)
