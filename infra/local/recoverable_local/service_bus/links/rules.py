"""List, add and remove the rules of a subscription by requests to `$management`, as Microsoft's JavaScript SDK does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recoverable_local.service_bus.amqp import encoding as e
from recoverable_local.service_bus.broker.entity import Entity
from recoverable_local.service_bus.broker.filters import COMPARED, CorrelationFilter, Filter, TrueFilter
from recoverable_local.service_bus.broker.refusals import bad_argument, not_allowed, not_found, rule_exists

_RULE, _NO_ACTION, _TRUE_FILTER, _CORRELATION_FILTER = 0x13700000004, 0x13700000005, 0x1370000007, 0x1370000009
"""The descriptors of AMQP values (azure-sdk-for-js, `descriptorCodes`)."""


def add(entity: Entity, body: Mapping[str, Any]) -> None:
    """Add a rule.

    Raises:
        RefusedError: The entity has no rules, or one of this name already; or the emulator does not have such a filter.
    """
    rules, name = _rules(entity), body["rule-name"]
    if name in rules:
        raise rule_exists(name)
    rules[name] = _filter(body["rule-description"])


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
        e.described(_RULE, e.sequence([_encoded(rule), e.described(_NO_ACTION, e.sequence([])), e.string(name)]))
        for name, rule in page
    ]
    return [e.mapping([(e.string("rule-description"), each)]) for each in described]


def _rules(entity: Entity) -> dict[str, Filter]:
    if entity.rules is None:
        raise not_allowed(f"The entity {entity.profile.path!r} has no rules: it is no subscription.")
    return entity.rules


def _filter(description: Mapping[str, Any]) -> Filter:
    """Return the filter that a client describes; of SQL only the one that matches every message."""
    given, sql = description.get("correlation-filter"), description.get("sql-filter") or {}
    if description.get("sql-rule-action") or (given is None and sql.get("expression") != "1=1"):
        raise bad_argument("The emulator has correlation filters, and '1=1'; it has no other SQL, and no actions.")
    if given is None:
        return TrueFilter()
    named = {name: given.get("label" if name == "subject" else name.replace("_", "-")) for name in COMPARED}
    try:
        return CorrelationFilter(properties=given.get("properties") or {}, **named)
    except ValueError as error:
        raise bad_argument(str(error)) from error


def _encoded(rule: Filter) -> bytes:
    if isinstance(rule, TrueFilter):
        return e.described(_TRUE_FILTER, e.sequence([]))
    properties = e.mapping([(e.string(name), e.plain(value)) for name, value in rule.properties.items()])
    fields = [e.plain(getattr(rule, name)) for name in COMPARED]
    return e.described(_CORRELATION_FILTER, e.sequence([*fields, properties]))
