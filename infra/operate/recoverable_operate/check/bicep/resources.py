"""Find the resources of a Bicep file that concern queues: the queues, the roles on them, and the app settings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal, TypeVar

from recoverable_operate.check.bicep.values import BicepError, File, configuration, names_of, value
from recoverable_operate.check.known import Unknown
from recoverable_operate.check.service_bus import FOR_EVER, NAMESPACE, Grant, Queue

T = TypeVar("T")

NAMESPACES = "Microsoft.ServiceBus/namespaces"
QUEUES = "Microsoft.ServiceBus/namespaces/queues"
SUBSCRIPTIONS = "Microsoft.ServiceBus/namespaces/topics/subscriptions"
ROLES: Mapping[str, Literal["receive", "send", "own"]] = {
    "4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0": "receive",
    "69a216fc-b8fb-44d8-bc22-1f3c2cd27a39": "send",
    "090c5cfd-751d-490a-894a-3ce6f1109419": "own",
}
"""The roles for Service Bus, by their ids ("Azure built-in roles")."""

LOCK, DELIVERIES = "PT1M", 10
"""The defaults of a queue (Microsoft.ServiceBus namespaces/queues)."""

ISO = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?")


def maybe(read: Callable[[], T]) -> T | Unknown:
    """Return what a function reads of a file, or why it cannot."""
    try:
        return read()
    except BicepError as error:
        return Unknown(str(error))


def resources(file: File, kind: str) -> Iterator[tuple[str, Mapping[str, Any], File]]:
    """Yield the resources of a type that would be deployed: name, configuration, and the file as it looks from there."""
    for name, resource in file.section("resources").items():
        own = resource.get("config")
        condition = own.get("condition") if isinstance(own, dict) else None
        if resource.get("type") != kind or resource.get("existing"):
            continue
        if condition is None or maybe(lambda condition=condition: bool(value(condition, file))) is not False:  # type: ignore[misc]
            yield name, configuration(resource), replace(file, hidden=loop_variables(own))


def loop_variables(own: Any) -> frozenset[str]:
    """Return the names of a loop's variables."""
    detail = (own.get("loop_type") or {}).get("detail") if isinstance(own, dict) else None
    return frozenset(str(each) for key, each in (detail or {}).items() if key in ("item_name", "index_name"))


def queues_of(file: File, kind: str = QUEUES) -> tuple[Queue, ...]:
    """Return the queues that a file makes, or the subscriptions."""
    return tuple(queue_of(symbol, config, inside) for symbol, config, inside in resources(file, kind))


def tier_of(file: File) -> str | Unknown:
    """Return the tier of the one namespace of a file."""
    found = [(config, inside) for _, config, inside in resources(file, NAMESPACES)]
    if len(found) != 1:
        return Unknown("the file makes several namespaces" if found else "the namespace is none of this file")
    ((config, inside),) = found
    return maybe(lambda: sku_name(value(config.get("sku"), inside)))


def sku_name(sku: object) -> str:
    """Return the name of a tier."""
    if not isinstance(sku, dict) or not isinstance(sku.get("name"), str):
        raise BicepError("the namespace does not say its tier")
    return str(sku["name"])


def queue_of(symbol: str, config: Mapping[str, Any], file: File) -> Queue:
    """Return a queue."""
    given = config.get("properties")
    properties: Mapping[str, Any] = given if isinstance(given, dict) else {}

    def read(name: str, default: Any = None) -> Any:
        found = value(properties.get(name), file)
        return default if found is None else found

    return Queue(
        name=symbol_name(symbol, file),
        lock=maybe(lambda: duration(read("lockDuration", LOCK))),
        max_delivery_count=maybe(lambda: number(read("maxDeliveryCount", DELIVERIES))),
        dead_letters_to=maybe(lambda: target(properties.get("forwardDeadLetteredMessagesTo"), file)),
        forwards_to=maybe(lambda: target(properties.get("forwardTo"), file)),
        duplicate_detection=maybe(lambda: read("requiresDuplicateDetection", default=False) is True),
        lives=maybe(lambda: life(read("defaultMessageTimeToLive"))),
        dead_letters_expired=maybe(lambda: read("deadLetteringOnMessageExpiration", default=False) is True),
    )


def symbol_name(symbol: str, file: File) -> str:
    """Return the name of a resource, without those of its parents; its symbolic name where that is not known."""
    written = configuration(file.section("resources")[symbol]).get("name")
    own = written.rpartition("/")[2] if isinstance(written, str) and "}" not in written.rpartition("/")[2] else written
    found = maybe(lambda: value(own, file))
    return found.rpartition("/")[2] if isinstance(found, str) else symbol


def target(node: Any, file: File) -> str | None:
    """Return the name of the queue that a property refers to."""
    symbol = maybe(lambda: names_of(node)[0])
    if isinstance(symbol, str) and symbol in file.section("resources"):
        return symbol_name(symbol, file)
    found = value(node, file)
    return str(found).rpartition("/")[2] if found else None


def duration(text: object) -> timedelta:
    """Return a duration of ISO 8601, such as PT1M."""
    found = ISO.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise BicepError(f"{text!r} is no duration such as PT1M")
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


def life(text: object) -> timedelta | None:
    """Return how long messages live; None for ever."""
    return None if text is None or (lives := duration(text)) > FOR_EVER else lives


def number(found: object) -> int:
    """Return a whole number."""
    if isinstance(found, bool) or not isinstance(found, int):
        raise BicepError(f"{found!r} is no whole number")
    return found


def grants_of(file: File) -> tuple[Grant, ...] | Unknown:
    """Return the roles for Service Bus that a file assigns, to whomever."""
    grants: list[Grant] = []
    for symbol, config, inside in resources(file, "Microsoft.Authorization/roleAssignments"):
        given = config.get("properties")
        properties: Mapping[str, Any] = given if isinstance(given, dict) else {}
        role = maybe(lambda: str(value(properties.get("roleDefinitionId"), inside)))  # noqa: B023  # called at once
        if isinstance(role, Unknown):
            return Unknown(f"which role {symbol} assigns: {role.why}")
        if (kind := next((each for key, each in ROLES.items() if key in role), None)) is not None:
            grants.append(Grant(kind, scope_of(config.get("scope"), inside)))
    return tuple(grants) or Unknown("the file assigns no role for Service Bus")


def scope_of(node: Any, file: File) -> str:
    """Return the name of the queue on which a role is assigned; `NAMESPACE` for anything above it."""
    found = file.section("resources").get(node) if isinstance(node, str) else None
    return symbol_name(node, file) if found is not None and found.get("type") == QUEUES else NAMESPACE


def settings_of(file: File) -> Mapping[str, str | Unknown] | Unknown:
    """Return the app settings of the one app of a file."""
    found = [*own_settings(file), *site_settings(file)]
    if len(found) == 1:
        return {name: maybe(lambda node=node: str(value(node, file))) for name, node in found[0].items()}  # type: ignore[misc]
    return Unknown("the file has the settings of several apps" if found else "the file has no app settings")


def own_settings(file: File) -> Iterator[Mapping[str, Any]]:
    """Yield the settings that are resources of their own."""
    for _, config, _ in resources(file, "Microsoft.Web/sites/config"):
        if config.get("name") == "appsettings" and isinstance(config.get("properties"), dict):
            yield config["properties"]


def site_settings(file: File) -> Iterator[Mapping[str, Any]]:
    """Yield the settings that are part of a site: `siteConfig.appSettings`, a list of names and values."""
    for _, config, _ in resources(file, "Microsoft.Web/sites"):
        match config.get("properties"):
            case {"siteConfig": {"appSettings": list(pairs)}}:
                yield {
                    str(each["name"]): each.get("value") for each in pairs if isinstance(each, dict) and "name" in each
                }
            case _:
                pass
