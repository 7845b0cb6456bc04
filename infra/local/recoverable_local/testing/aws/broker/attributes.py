"""Convert a queue's settings to and from the attributes of the SQS API."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from re import fullmatch
from typing import Any

from recoverable_local.testing.aws.broker.broker import Broker
from recoverable_local.testing.aws.broker.queue import Queue
from recoverable_local.testing.aws.broker.queues import DAY, KIBIBYTE, QUEUE_NAME, Redrive, Settings
from recoverable_local.testing.aws.broker.refusals import Refusal, invalid, invalid_value

NUMBERS: Mapping[str, tuple[str, int, int]] = {
    "DelaySeconds": ("delay", 0, 900),
    "VisibilityTimeout": ("visibility_timeout", 0, 43_200),
    "MessageRetentionPeriod": ("retention", 60, 14 * DAY),
    "MaximumMessageSize": ("max_size", KIBIBYTE, KIBIBYTE * KIBIBYTE),
    "ReceiveMessageWaitTimeSeconds": ("wait", 0, 20),
}
"""The attributes that are numbers, the setting that each is, and its range (CreateQueue)."""


def settings_from(name: str, attributes: Mapping[str, str], before: Settings | None = None) -> Settings:
    """Parse a queue's settings from the attributes of the API.

    Args:
        name: the queue's.
        attributes: what is asked for.
        before: what it is set to so far.

    Raises:
        Refusal: a name or a value that SQS does not take.
    """
    if not fullmatch(QUEUE_NAME, name):
        raise invalid("Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length")
    changes: dict[str, Any] = {}
    for attribute, value in attributes.items():
        if attribute in NUMBERS:
            setting, least, most = NUMBERS[attribute]
            changes[setting] = number(attribute, value, least, most)
        elif attribute in OTHERS:
            changes |= OTHERS[attribute](value)
        else:
            raise Refusal("InvalidAttributeName", f"Unknown Attribute {attribute}.")
    if attributes.get("FifoQueue", "true") != "true" or ("FifoQueue" in attributes) > name.endswith(".fifo"):
        raise invalid_value(
            attributes["FifoQueue"], "FifoQueue", "the name of a FIFO queue ends with .fifo, and only its."
        )
    settings = replace(before or Settings(name=name), **changes)
    if settings.redrive and settings.redrive.to.endswith(".fifo") != settings.fifo:
        reason = "Dead-letter queue must be same type of queue as the source."
        raise invalid_value(attributes.get("RedrivePolicy"), "RedrivePolicy", reason)
    return settings


def number(attribute: str, value: str, least: int, most: int) -> int:
    """Parse a number, and refuse one that is out of range."""
    if not value.isdecimal() or not least <= int(value) <= most:
        raise Refusal("InvalidAttributeValue", f"Invalid value for the parameter {attribute}.")
    return int(value)


def redrive(value: str) -> dict[str, Any]:
    """Parse a redrive policy from JSON; an empty text removes it."""
    if not value:
        return {"redrive": None}
    policy = json.loads(value)
    after = number("RedrivePolicy", str(policy["maxReceiveCount"]), 1, 1_000)
    return {"redrive": Redrive(to=policy["deadLetterTargetArn"].rpartition(":")[2], after=after)}


OTHERS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "RedrivePolicy": redrive,
    "ContentBasedDeduplication": lambda value: {"content_deduplication": value == "true"},
    "FifoQueue": lambda value: {},  # noqa: ARG005  # the name says it
    "RedriveAllowPolicy": lambda value: {},  # noqa: ARG005  # every queue may
}


def read_attributes(broker: Broker, queue: Queue) -> dict[str, str]:
    """Return a queue's attributes and the numbers of its messages, as text."""
    settings, now = queue.settings, broker.now()
    held = broker.kept(queue)
    hidden = [message for message in held if message.visible_at > now]
    in_flight = sum(message.in_flight(now) for message in hidden)
    attributes = {
        "QueueArn": settings.arn,
        "ApproximateNumberOfMessages": str(len(held) - len(hidden)),
        "ApproximateNumberOfMessagesNotVisible": str(in_flight),
        "ApproximateNumberOfMessagesDelayed": str(len(hidden) - in_flight),
        **{name: str(int(getattr(settings, setting))) for name, (setting, _, _) in NUMBERS.items()},
    }
    if settings.redrive:
        target = replace(settings, name=settings.redrive.to).arn
        policy = {"deadLetterTargetArn": target, "maxReceiveCount": settings.redrive.after}
        attributes["RedrivePolicy"] = json.dumps(policy)
    if settings.fifo:
        attributes["FifoQueue"] = "true"
        attributes["ContentBasedDeduplication"] = str(settings.content_deduplication).lower()
    return attributes
