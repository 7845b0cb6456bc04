"""Read the entities of a namespace from a config file in the format of Microsoft's emulator (Config.json)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recoverable._service_bus.app_settings import duration
from recoverable_local.service_bus.broker.filters import CorrelationFilter, Filter, TrueFilter
from recoverable_local.service_bus.broker.settings import Queue, Subscription, Topic

_NAMES = {
    "LockDuration": "lock_duration",
    "MaxDeliveryCount": "max_delivery_count",
    "DefaultMessageTimeToLive": "default_message_time_to_live",
    "DeadLetteringOnMessageExpiration": "dead_lettering_on_message_expiration",
    "RequiresSession": "requires_session",
    "DuplicateDetectionHistoryTimeWindow": "duplicate_detection_window",
    "ForwardTo": "forward_to",
    "ForwardDeadLetteredMessagesTo": "forward_dead_lettered_messages_to",
}
_DURATIONS = ("LockDuration", "DefaultMessageTimeToLive", "DuplicateDetectionHistoryTimeWindow")
_DETECTION = "RequiresDuplicateDetection"
_COMPARED = {
    "CorrelationId": "correlation_id",
    "MessageId": "message_id",
    "To": "to",
    "ReplyTo": "reply_to",
    "Label": "subject",
    "SessionId": "session_id",
    "ReplyToSessionId": "reply_to_session_id",
    "ContentType": "content_type",
    "Properties": "properties",
}

Json = Mapping[str, Any]


def read_config(path: Path) -> tuple[list[Queue], list[Topic]]:
    """Return the queues and topics of a file.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not of this format, or has what Service Bus refuses, or a filter that is not served here.
    """
    try:
        namespaces = json.loads(path.read_text("utf-8"))["UserConfig"]["Namespaces"]
        queues = [_queue(each) for one in namespaces for each in one.get("Queues", ())]
        topics = [_topic(each) for one in namespaces for each in one.get("Topics", ())]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{path} is no config file of the Service Bus emulator ({type(error).__name__}: {error}); write"
            ' {"UserConfig": {"Namespaces": [{"Name": "…", "Queues": […], "Topics": […]}]}}'
        ) from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    return queues, topics


def _queue(queue: Json) -> Queue:
    return Queue(queue["Name"], **_settings(queue))


def _topic(topic: Json) -> Topic:
    window = _settings(topic).get("duplicate_detection_window")
    subscriptions = tuple(_subscription(each) for each in topic.get("Subscriptions", ()))
    return Topic(topic["Name"], subscriptions, duplicate_detection_window=window)


def _subscription(subscription: Json) -> Subscription:
    rules = tuple(_filter(each) for each in subscription.get("Rules", ())) or (TrueFilter(),)
    return Subscription(subscription["Name"], rules, **_settings(subscription))


def _settings(entity: Json) -> dict[str, Any]:
    """Return the settings by their names here; empty ones are not set."""
    given = {name: value for name, value in entity.get("Properties", {}).items() if value not in ("", None)}
    if not given.pop(_DETECTION, False):
        given.pop("DuplicateDetectionHistoryTimeWindow", None)
    for name in given.keys() - _NAMES:
        raise ValueError(
            f"{entity['Name']!r} has the property {name!r}; write some of {', '.join([*_NAMES, _DETECTION])}"
        )
    return {_NAMES[name]: duration(value) if name in _DURATIONS else value for name, value in given.items()}


def _filter(rule: Json) -> Filter:
    properties = rule["Properties"]
    if properties.get("FilterType") != "Correlation" or "Action" in properties:
        raise ValueError(
            f"the rule {rule['Name']!r} has a filter of type {properties.get('FilterType')!r}, or an action; write a filter of type"
            " 'Correlation'; SQL is not served here"
        )
    wanted: Json = properties["CorrelationFilter"]
    for name in wanted.keys() - _COMPARED:
        raise ValueError(f"the rule {rule['Name']!r} compares {name!r}; write some of {', '.join(_COMPARED)}")
    return CorrelationFilter(**{_COMPARED[name]: value for name, value in wanted.items() if value not in ("", None)})
