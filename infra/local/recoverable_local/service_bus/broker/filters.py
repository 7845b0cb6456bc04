"""Decide which messages of a topic a subscription gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recoverable_local.service_bus.amqp import encoding as e
from recoverable_local.service_bus.broker import sql
from recoverable_local.service_bus.broker import sql_syntax as syntax
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


@dataclass(frozen=True, slots=True)
class SqlFilter:
    """A filter by a condition in Service Bus's SQL, such as `SqlFilter("color = 'red' AND quantity >= 10")`.

    Args:
        expression: The condition.

    Raises:
        ValueError: It is not of the documented grammar, or has arithmetic, a function or a parameter, which are not served here.
    """

    expression: str
    condition: syntax.Condition = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Parse the condition."""
        object.__setattr__(self, "condition", syntax.parse_condition(self.expression))


Filter = TrueFilter | CorrelationFilter | SqlFilter


@dataclass(frozen=True, slots=True)
class Rule:
    """A filter with an action, such as `Rule(SqlFilter("color = 'red'"), "SET priority = 'high'; REMOVE color")`.

    Args:
        filter: Which messages it matches.
        action: What it changes of them: `SET name = constant` and `REMOVE name`; empty for nothing.

    Raises:
        ValueError: The action is not of the documented grammar, or sets what is no constant.
    """

    filter: Filter
    action: str = ""
    statements: tuple[syntax.Statement, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Parse the action."""
        object.__setattr__(self, "statements", syntax.parse_action(self.action) if self.action else ())


def rule_of(given: Filter | Rule) -> Rule:
    """Return a rule without an action of a filter; a rule as it is."""
    return given if isinstance(given, Rule) else Rule(given)


def matches(rule: Filter, content: Content) -> bool:
    """True if a message matches a filter.

    Raises:
        sql.EvaluationError: A condition has no value for it.
    """
    match rule:
        case TrueFilter():
            return True
        case SqlFilter():
            return sql.is_true(rule.condition, properties_of(content))
        case CorrelationFilter():
            wanted = {name: getattr(rule, name) for name in COMPARED if getattr(rule, name) is not None}
            given = content.application_properties()
            return all(content.value_of(name) == value for name, value in wanted.items()) and all(
                name in given and given[name] == value for name, value in rule.properties.items()
            )


SYSTEM = {
    "messageid": "message_id", "correlationid": "correlation_id", "to": "to", "replyto": "reply_to", "label": "subject",
    "subject": "subject", "sessionid": "session_id", "replytosessionid": "reply_to_session_id", "contenttype": "content_type",
}  # fmt: skip
"""The system properties that a sender sets, by the names of .NET in lower case, and as AMQP's fields are called here."""


def properties_of(content: Content) -> sql.Properties:
    """Return what a condition sees of a message."""
    own = {name.lower(): value for name, value in content.application_properties().items()}
    return sql.Properties(own, {name: content.value_of(named) for name, named in SYSTEM.items()})


def changed(content: Content, statements: tuple[syntax.Statement, ...]) -> Content:
    """Return the message as an action leaves it.

    Raises:
        sql.EvaluationError: It names a system property that is none.
    """
    for statement in statements:
        name, value = statement.property.name, statement.value if isinstance(statement, syntax.Set) else None
        if statement.property.of_system:
            if name.lower() not in SYSTEM:
                raise sql.EvaluationError(f"there is no system property sys.{name}")
            content = content.with_field(SYSTEM[name.lower()], None if value is None else str(value))
            continue
        known = next((each for each in content.application if each.lower() == name.lower()), name)
        kept = {each: encoded for each, encoded in content.application.items() if each != known}
        added = {known: e.plain(value)} if isinstance(statement, syntax.Set) else {}
        content = content.with_properties({**kept, **added})
    return content
