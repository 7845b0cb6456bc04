"""Read the entities of a namespace from a config file in the format of Microsoft's emulator (Config.json)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recoverable._service_bus.app_settings import duration
from recoverable_local.service_bus.broker.filters import CorrelationFilter, Filter, Rule, SqlFilter, TrueFilter
from recoverable_local.service_bus.broker.settings import Queue, Subscription, Topic

_NAMES = {
    "LockDuration": "lock_duration",
    "MaxDeliveryCount": "max_delivery_count",
    "DefaultMessageTimeToLive": "default_message_time_to_live",
    "DeadLetteringOnMessageExpiration": "dead_lettering_on_message_expiration",
    "RequiresSession": "requires_session",
    "DuplicateDetectionHistoryTimeWindow": "duplicate_detection_window",
    "DeadLetteringOnFilterEvaluationExceptions": "dead_lettering_on_filter_evaluation_exceptions",
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
        namespaces = json.loads(without_comments(path.read_text("utf-8")))["UserConfig"]["Namespaces"]
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
    rules = tuple(_rule(each) for each in subscription.get("Rules", ())) or (TrueFilter(),)
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


def _rule(rule: Json) -> Filter | Rule:
    try:
        properties = rule["Properties"]
        found, action = _filter(properties), properties.get("Action", {}).get("SqlExpression")
        return Rule(found, action) if action else found
    except ValueError as error:
        raise ValueError(f"the rule {rule['Name']!r}: {error}") from error


def _filter(properties: Json) -> Filter:
    match properties.get("FilterType"):
        case "Sql":
            return SqlFilter(properties["SqlFilter"]["SqlExpression"])
        case "True" | "TrueFilter":
            return TrueFilter()
        case "Correlation":
            wanted: Json = properties["CorrelationFilter"]
        case other:
            raise ValueError(f"it has a filter of type {other!r}; write 'Sql' or 'Correlation'")
    if unknown := sorted(wanted.keys() - _COMPARED):
        raise ValueError(f"it compares {unknown[0]!r}; write some of {', '.join(_COMPARED)}")
    return CorrelationFilter(**{_COMPARED[name]: value for name, value in wanted.items() if value not in ("", None)})


_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)


def without_comments(text: str) -> str:
    """Return JSON without its comments, which Microsoft's own files have."""
    return _COMMENT.sub(lambda found: found[1] or " ", text)
