"""List, add and remove the rules of a subscription by requests to `$management`, as Microsoft's JavaScript SDK does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recoverable_local.service_bus.amqp import encoding as e
from recoverable_local.service_bus.broker.entity import Entity
from recoverable_local.service_bus.broker.filters import (
    COMPARED,
    CorrelationFilter,
    Filter,
    Rule,
    SqlFilter,
    TrueFilter,
)
from recoverable_local.service_bus.broker.refusals import bad_argument, not_allowed, not_found, rule_exists

_RULE, _NO_ACTION, _ACTION = 0x13700000004, 0x13700000005, 0x13700000006
_TRUE_FILTER, _SQL_FILTER, _CORRELATION_FILTER = 0x1370000007, 0x1370000006, 0x1370000009
"""The descriptors of AMQP values (azure-sdk-for-js, `descriptorCodes`)."""


def add(entity: Entity, body: Mapping[str, Any]) -> None:
    """Add a rule.

    Raises:
        RefusedError: The entity has no rules, or one of this name already; or the emulator does not have such a filter.
    """
    rules, name = _rules(entity), body["rule-name"]
    if name in rules:
        raise rule_exists(name)
    rules[name] = _rule(body["rule-description"])


def remove(entity: Entity, body: Mapping[str, Any]) -> None:
    """Remove a rule.

    Raises:
        RefusedError: No rule has this name.
    """
    if _rules(entity).pop(body["rule-name"], None) is None:
        raise not_found(f"{entity.profile.path}/Rules/{body['rule-name']}")


def listed(entity: Entity, body: Mapping[str, Any]) -> list[bytes]:
    """Return the encoded rules of a page, in the order in which they were added.

    Raises:
        RefusedError: The entity has no rules.
    """
    page = list(_rules(entity).items())[body["skip"] :][: body["top"]]
    described = [
        e.described(_RULE, e.sequence([_encoded(rule.filter), _encoded_action(rule), e.string(name)]))
        for name, rule in page
    ]
    return [e.mapping([(e.string("rule-description"), each)]) for each in described]


def _rules(entity: Entity) -> dict[str, Rule]:
    if entity.rules is None:
        raise not_allowed(f"The entity {entity.profile.path!r} has no rules: it is no subscription.")
    return entity.rules


def _rule(description: Mapping[str, Any]) -> Rule:
    """Return the rule that a client describes.

    Raises:
        RefusedError: the emulator does not have its filter or action.
    """
    try:
        return Rule(_filter(description), (description.get("sql-rule-action") or {}).get("expression") or "")
    except ValueError as error:
        raise bad_argument(str(error)) from error


def _filter(description: Mapping[str, Any]) -> Filter:
    given = description.get("correlation-filter")
    if given is not None:
        named = {name: given.get("label" if name == "subject" else name.replace("_", "-")) for name in COMPARED}
        return CorrelationFilter(properties=given.get("properties") or {}, **named)
    sql = (description.get("sql-filter") or {}).get("expression")
    if not isinstance(sql, str):
        raise ValueError("The rule has neither a correlation-filter nor a sql-filter with an expression.")  # noqa: TRY004  # of a client's request
    return SqlFilter(sql)


def _encoded(rule: Filter) -> bytes:
    if isinstance(rule, TrueFilter):
        return e.described(_TRUE_FILTER, e.sequence([]))
    if isinstance(rule, SqlFilter):
        return e.described(_SQL_FILTER, e.sequence([e.string(rule.expression)]))
    properties = e.mapping([(e.string(name), e.plain(value)) for name, value in rule.properties.items()])
    fields = [e.plain(getattr(rule, name)) for name in COMPARED]
    return e.described(_CORRELATION_FILTER, e.sequence([*fields, properties]))


def _encoded_action(rule: Rule) -> bytes:
    if not rule.action:
        return e.described(_NO_ACTION, e.sequence([]))
    return e.described(_ACTION, e.sequence([e.string(rule.action)]))
