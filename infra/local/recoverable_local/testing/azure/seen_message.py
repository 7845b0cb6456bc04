"""Show a message of a Service Bus queue as tests see it."""

from __future__ import annotations

from datetime import datetime

from recoverable.headers import texts
from recoverable_local.service_bus.broker.holding.content import Content
from recoverable_local.service_bus.broker.holding.messages import Message
from recoverable_local.testing.azure.broker.contents import fields_of, moment, properties_of
from recoverable_local.testing.azure.broker.register import broker_id, message_id
from recoverable_local.testing.seen_message import SeenMessage

OURS = ("NServiceBus.", "Recoverable.", "$.diagnostics.")
"""Prefixes of the headers that `recoverable` and NServiceBus write; all others are the sender's."""


def published(content: Content, topic: str, at: datetime) -> SeenMessage:
    """Return what was published to a topic as tests see it.

    Args:
        content: what was published.
        topic: the topic's name.
        at: when.
    """
    properties = properties_of(content)
    return SeenMessage(
        id=message_id(content),
        broker_id=broker_id(content),
        queue=topic,
        data=content.data(),
        attributes={name: value for name, value in properties.items() if not name.startswith(OURS)},
        headers=texts(properties),
        receive_count=0,
        group_id=fields_of(content).get("session_id"),
        sent_at=at,
        visible_at=at,
        fields=fields_of(content),
    )


def to_seen_message(message: Message, queue: str) -> SeenMessage:
    """Return the message as tests see it."""
    content, lock = message.content, message.lock
    properties = properties_of(content)
    sent_at = moment(message.enqueued_at)
    return SeenMessage(
        id=message_id(content),
        broker_id=broker_id(content),
        queue=queue,
        data=content.data(),
        attributes={name: value for name, value in properties.items() if not name.startswith(OURS)},
        headers=texts(properties),
        receive_count=message.delivery_count + (lock is not None),
        group_id=message.session_id,
        sent_at=sent_at,
        visible_at=moment(lock.until) if lock else sent_at,
        fields=fields_of(content),
    )
