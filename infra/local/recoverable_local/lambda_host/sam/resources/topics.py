"""Parse `AWS::SNS::Topic` into a Topic, and what subscribes queues to topics into Subscriptions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from recoverable_local.lambda_host.sam.created import Created
from recoverable_local.lambda_host.sam.stack import Subscription, Topic
from recoverable_operate.templates import Properties, TemplateError, as_text

TOPIC = "AWS::SNS::Topic"
SUBSCRIPTION = "AWS::SNS::Subscription"
_ATTRIBUTES = ("FilterPolicy", "FilterPolicyScope", "RawMessageDelivery")


def parse_topic(properties: Properties) -> Topic:
    """Parse one topic: its name and its kind. Settings of encryption or delivery logs have no effect here.

    Raises:
        TemplateError: The name of a FIFO topic does not end in `.fifo`, or that of a standard topic does.
    """
    fifo = properties.flag("FifoTopic", default=False)
    name = properties.text("TopicName", properties.where + (".fifo" if fifo else ""))
    if name.endswith(".fifo") != fifo:
        raise TemplateError(
            f"{properties.where}: the name {name!r} and FifoTopic {fifo} do not fit; the names of FIFO topics, and only they, end in .fifo."
        )
    by_content = properties.flag("ContentBasedDeduplication", default=False)
    return Topic(
        properties.where,
        name,
        {"FifoTopic": "true", "ContentBasedDeduplication": str(by_content).lower()} if fifo else {},
    )


def parse_subscriptions(
    topics: Iterable[Properties], own: Iterable[Properties], created: Created
) -> tuple[tuple[Subscription, ...], tuple[str, ...]]:
    """Parse the subscriptions that topics have themselves, and those that are resources of their own.

    Returns:
        Those that deliver to a queue of the template; and for each other one a note that says why nothing here delivers by it.

    Raises:
        TemplateError: One of them is malformed.
    """
    within = [each for topic in topics for each in _subscriptions_within(topic, created)]
    found = [_subscription(each, created) for each in (*within, *own)]
    subscriptions = tuple(each for each in found if isinstance(each, Subscription))
    return subscriptions, tuple(each for each in found if isinstance(each, str))


def _subscriptions_within(topic: Properties, created: Created) -> Iterator[Properties]:
    listed = topic.values.get("Subscription") or []
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise TemplateError(f"{topic.where}.Subscription is {listed!r:.80}; it must be a list of mappings.")
    for number, each in enumerate(listed):
        own = {**each, "TopicArn": created.topics[topic.where].arn}
        yield Properties(f"{topic.where}.Subscription.{number}", own, topic.scope)


def _subscription(properties: Properties, created: Created) -> Subscription | str:
    try:
        protocol = properties.required("Protocol", "sqs")
        topic = properties.required("TopicArn", "!Ref OrderEvents")
        queue = properties.required("Endpoint", "!GetAtt Orders.Arn")
    except TemplateError as error:
        return f"nothing here delivers by {properties.where}: {error}"
    if protocol != "sqs":
        return f"{properties.where} is a subscription by {protocol}, to which nothing here delivers"
    for arn, kind, known in ((topic, "topic", created.topics), (queue, "queue", created.queues)):
        if arn not in {each.arn for each in known.values()}:
            return f"{properties.where} names the {kind} {arn}, which is not in this template, so nothing here delivers by it"
    return Subscription(
        topic, queue, {name: _text(given) for name in _ATTRIBUTES if (given := properties.get(name)) is not None}
    )


def _text(value: object) -> str:
    """Return an attribute as SNS takes it: a mapping as JSON."""
    return json.dumps(value) if isinstance(value, dict) else as_text(value)
