"""Offer the world's SNS client: as much of boto3's as publishing needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from types import SimpleNamespace
from typing import Any, ClassVar

from recoverable_local.testing.aws.api.operations import Answer, Request, for_each
from recoverable_local.testing.aws.api.sqs_client import Client
from recoverable_local.testing.aws.broker import checks
from recoverable_local.testing.aws.broker.queue import Queue
from recoverable_local.testing.aws.broker.queues import REGION
from recoverable_local.testing.aws.broker.topics import Topics


def publish(topics: Topics, request: Request) -> Answer:
    """Take one message."""
    return publish_one(topics, topic_of(topics, request), request)


def publish_batch(topics: Topics, request: Request) -> Answer:
    """Take up to ten messages; each succeeds or fails alone."""
    entries, topic = request["PublishBatchRequestEntries"], topic_of(topics, request)
    checks.check_batch(entries, "PublishBatch")
    checks.check_batch_size([as_sent(entry) for entry in entries], topic.settings.max_size)
    return {"Successful": [], "Failed": []} | for_each(entries, lambda entry: publish_one(topics, topic, entry))


def topic_of(topics: Topics, request: Request) -> Queue:
    """Return the topic of the request's ARN."""
    return topics.topic(request["TopicArn"].rpartition(":")[2])


def as_sent(entry: Request) -> Request:
    """Return an entry as SQS names its parts."""
    return {**entry, "MessageBody": entry["Message"]}


def publish_one(topics: Topics, topic: Queue, entry: Request) -> Answer:
    """Check one message and take it."""
    body, group = entry["Message"], entry.get("MessageGroupId")
    checks.check_entry(as_sent(entry), topic.settings)
    deduplication = entry.get("MessageDeduplicationId")
    if topic.settings.fifo and deduplication is None:
        deduplication = sha256(body.encode()).hexdigest()
    attributes = {name: dict(value) for name, value in (entry.get("MessageAttributes") or {}).items()}
    return {"MessageId": topics.publish(topic, body, attributes, group, deduplication).id}


ON_TOPICS: Mapping[str, Callable[[Any, Request], Answer]] = {
    operation.__name__: operation for operation in (publish, publish_batch)
}


class TopicClient(Client):
    """An SNS client that talks to the world's topics."""

    service = "SNS"
    operations: ClassVar[Mapping[str, Callable[[Any, Request], Answer]]] = ON_TOPICS
    meta = SimpleNamespace(
        endpoint_url=f"https://sns.{REGION}.amazonaws.com",
        region_name=REGION,
        service_model=SimpleNamespace(service_name="sns"),
    )
