"""Topics and subscriptions of a template: how they are parsed, and that what is published reaches the queue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from local.lambda_host.templates import document, written
from local.lambda_host.test_template import read, stack_of
from recoverable_local.lambda_host import LocalAws
from recoverable_local.lambda_host.sam.stack import Stack, Subscription, Topic
from recoverable_local.lambda_host.services.clients import session
from recoverable_operate.templates import TemplateError

ARN = "arn:aws:sns:us-east-1:42:Events"
ORDERS = "arn:aws:sqs:us-east-1:42:shop-orders"
TO_ORDERS = {"Protocol": "sqs", "Endpoint": {"Fn::GetAtt": ["Orders", "Arn"]}}


def template(
    topic: dict[str, Any] | None = None, *subscriptions: dict[str, Any], function: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Build a template with a topic, and with subscriptions that are resources of their own."""
    made = document(function=function)
    made["Resources"]["Events"] = {"Type": "AWS::SNS::Topic", "Properties": topic or {}}
    for number, properties in enumerate(subscriptions):
        own = {"TopicArn": {"Ref": "Events"}, **properties}
        made["Resources"][f"Subscription{number}"] = {"Type": "AWS::SNS::Subscription", "Properties": own}
    return made


def parsed(folder: Path, *parts: Any, **more: Any) -> Stack:
    """Parse such a template."""
    return stack_of(read(written(folder, template(*parts, **more))))


@pytest.mark.parametrize(
    ("properties", "topic"),
    [
        ({}, Topic("Events", "Events", {})),
        ({"TopicName": "order-events", "KmsMasterKeyId": "alias/aws/sns"}, Topic("Events", "order-events", {})),
        (
            {"FifoTopic": True, "ContentBasedDeduplication": True},
            Topic("Events", "Events.fifo", {"FifoTopic": "true", "ContentBasedDeduplication": "true"}),
        ),
    ],
)
def test_a_topic_has_a_name_and_a_kind(tmp_path: Path, properties: dict[str, Any], topic: Topic) -> None:
    assert read(written(tmp_path, template(properties))).topics() == (topic,)


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({"TopicName": "events.fifo"}, r"the name 'events\.fifo' and FifoTopic False do not fit"),
        ({"Subscription": "orders"}, r"Events\.Subscription is 'orders'; it must be a list of mappings"),
        ({"Subscription": ["orders"]}, r"Events\.Subscription is \['orders'\]; it must be a list of mappings"),
    ],
)
def test_a_malformed_topic_is_refused(tmp_path: Path, properties: dict[str, Any], said: str) -> None:
    with pytest.raises(TemplateError, match=said):
        parsed(tmp_path, properties)


def test_a_queue_subscribes_by_a_resource_or_within_the_topic(tmp_path: Path) -> None:
    filtered = {**TO_ORDERS, "RawMessageDelivery": True, "FilterPolicy": {"kind": ["placed"]}}

    assert parsed(tmp_path, {"Subscription": [TO_ORDERS]}, filtered).subscriptions == (
        Subscription(ARN, ORDERS, {}),
        Subscription(ARN, ORDERS, {"FilterPolicy": '{"kind": ["placed"]}', "RawMessageDelivery": "true"}),
    )


@pytest.mark.parametrize(
    ("properties", "note"),
    [
        (
            {"Protocol": "email", "Endpoint": "a@b.example"},
            "Subscription0 is a subscription by email, to which nothing here delivers",
        ),
        (
            {**TO_ORDERS, "TopicArn": "arn:aws:sns:us-east-1:42:other"},
            "Subscription0 names the topic arn:aws:sns:us-east-1:42:other, which is not in this template, so nothing here delivers by it",
        ),
        (
            {**TO_ORDERS, "Endpoint": "arn:aws:sqs:us-east-1:42:other"},
            "Subscription0 names the queue arn:aws:sqs:us-east-1:42:other, which is not in this template, so nothing here delivers by it",
        ),
    ],
    ids=["email", "topic", "queue"],
)
def test_what_nothing_delivers_to_is_noted(tmp_path: Path, properties: dict[str, Any], note: str) -> None:
    stack = parsed(tmp_path, {}, properties)

    assert (stack.subscriptions, note in stack.not_served) == ((), True)


def test_a_subscription_to_a_topic_that_only_aws_knows_is_noted(tmp_path: Path) -> None:
    (note,) = parsed(tmp_path, {}, {**TO_ORDERS, "TopicArn": {"Fn::ImportValue": "events"}}).not_served

    assert note.startswith("nothing here delivers by Subscription0: Subscription0.TopicArn: ")


def test_a_function_is_told_the_name_and_the_arn_of_a_topic(tmp_path: Path) -> None:
    variables = {"REF": {"Ref": "Events"}, "NAME": {"Fn::GetAtt": ["Events", "TopicName"]}}

    (function,) = parsed(tmp_path, function={"Environment": {"Variables": variables}}).functions

    assert function.environment == {"REF": ARN, "NAME": "Events"}


def test_what_is_published_reaches_the_queues_whose_filter_it_passes(tmp_path: Path, stack_name: str) -> None:
    raw = {"Protocol": "sqs", "Endpoint": {"Fn::GetAtt": ["Errors", "Arn"]}, "RawMessageDelivery": True}
    filtered = {**raw, "FilterPolicy": {"kind": ["placed"]}}
    path = written(tmp_path, template({"TopicName": f"{stack_name}-events"}, filtered))

    with LocalAws.from_template(path, stack_name=stack_name) as host:
        sns = session("us-east-1").client("sns", endpoint_url=host.endpoint_url)
        (topic,) = (each["TopicArn"] for each in sns.list_topics()["Topics"] if stack_name in each["TopicArn"])
        for kind in ("placed", "paid"):
            attributes = {"kind": {"DataType": "String", "StringValue": kind}}
            sns.publish(TopicArn=topic, Message=f"an order is {kind}", MessageAttributes=attributes)
        found = [message.body for message in host.queue("errors").messages()]

    assert found == ["an order is placed"]
