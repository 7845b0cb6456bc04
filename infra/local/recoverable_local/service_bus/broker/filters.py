"""Decide which messages of a topic a subscription gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recoverable_local.service_bus.broker.holding.content import Content

COMPARED = (
    "correlation_id", "message_id", "to", "reply_to", "subject", "session_id", "reply_to_session_id", "content_type",
)  # fmt: skip
"""The fields of a message that a correlation filter compares, in the order in which AMQP has them."""


@dataclass(frozen=True, slots=True)
class TrueFilter:
    """A filter that matches every message; the default of a subscription."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationFilter:
    """A filter that matches messages with equal values in all fields that it sets.

    Args:
        properties: Application properties.
        others: The message's fields of these names, as in the SDK.
    """

    properties: Mapping[str, Any] = field(default_factory=dict)
    correlation_id: str | None = None
    message_id: str | None = None
    to: str | None = None
    reply_to: str | None = None
    subject: str | None = None
    session_id: str | None = None
    reply_to_session_id: str | None = None
    content_type: str | None = None

    def __post_init__(self) -> None:
        """Refuse a filter without any value, as Service Bus does."""
        if not self.properties and all(getattr(self, name) is None for name in COMPARED):
            raise ValueError(
                "CorrelationFilter() names nothing to compare; write CorrelationFilter(subject='…'), or TrueFilter()"
            )


Filter = TrueFilter | CorrelationFilter


def matches(rule: Filter, content: Content) -> bool:
    """True if a message matches a filter."""
    match rule:
        case TrueFilter():
            return True
        case CorrelationFilter():
            wanted = {name: getattr(rule, name) for name in COMPARED if getattr(rule, name) is not None}
            given = content.application_properties()
            return all(content.value_of(name) == value for name, value in wanted.items()) and all(
                name in given and given[name] == value for name, value in rule.properties.items()
            )
