"""Read what a Bicep file makes: queues and subscriptions, the roles on them, the app's settings and identities."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recoverable._service_bus import app_settings
from recoverable_operate.rules._on_service_bus import FOR_EVER, NAMESPACE, Grant, ServiceBusQueue
from recoverable_operate.rules._rule import Unknown
from recoverable_operate.templates._bicep_text import MARK
from recoverable_operate.templates._bicep_values import File, Symbol, configuration, parse, rounds, symbol_of, value
from recoverable_operate.templates._document import TemplateError, maybe
from recoverable_operate.templates._places import Place

if TYPE_CHECKING:
    pass

NAMESPACES = "Microsoft.ServiceBus/namespaces"
QUEUES = "Microsoft.ServiceBus/namespaces/queues"
SITES = "Microsoft.Web/sites"
SUBSCRIPTIONS = "Microsoft.ServiceBus/namespaces/topics/subscriptions"
ROLES: Mapping[str, Literal["receive", "send", "own"]] = {
    "4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0": "receive",
    "69a216fc-b8fb-44d8-bc22-1f3c2cd27a39": "send",
    "090c5cfd-751d-490a-894a-3ce6f1109419": "own",
}
"""The roles for Service Bus, by their ids ("Azure built-in roles")."""

LOCK, DELIVERIES = "PT1M", 10
"""The defaults of a queue (Microsoft.ServiceBus namespaces/queues)."""


def resources_of_type(file: File, kind: str) -> Iterator[tuple[str, Mapping[str, Any], File]]:
    """Yield the resources of a type that would be deployed: symbol, configuration, and the file as it looks from there.

    Those of a loop are yielded one by one; where it is not known how many there are, one stands for all.
    """
    for symbol, resource in file.section("resources").items():
        if resource.get("type") == kind and not resource.get("existing"):
            yield from (
                (symbol, configuration(resource), inside) for inside in deployments(resource.get("config"), file)
            )


def deployments(config: Any, file: File) -> Iterator[File]:
    """Yield the file as it looks from each deployment of a resource or a module: none where a condition does not hold."""
    if isinstance(config, dict) and "loop_type" in config:
        found = maybe(lambda: list(rounds(config, file)))
        yield from [file.with_bound(unknown_variables(config))] if isinstance(found, Unknown) else found
    elif (
        not isinstance(config, dict)
        or "condition" not in config
        or "config" not in config
        or maybe(lambda: bool(value(config["condition"], file))) is not False
    ):
        yield file


def unknown_variables(loop: Mapping[str, Any]) -> dict[str, Any]:
    """Return the names of a loop's variables, without values."""
    detail = loop["loop_type"].get("detail") or {}
    return {str(each): Symbol("") for key, each in detail.items() if key in ("item_name", "index_name")}


def entities_of(file: File, kind: str = QUEUES) -> tuple[ServiceBusQueue, ...]:
    """Return the queues that a file makes, or the subscriptions."""
    return tuple(entity_of(symbol, config, inside) for symbol, config, inside in resources_of_type(file, kind))


def tier_of(file: File) -> str | Unknown:
    """Return the tier of the one namespace of a file."""
    found = [(config, inside) for _, config, inside in resources_of_type(file, NAMESPACES)]
    if len(found) != 1:
        return Unknown("the file makes several namespaces" if found else "the namespace is not in this file")
    ((config, inside),) = found
    return maybe(lambda: sku_name(value(config.get("sku"), inside)))


def sku_name(sku: object) -> str:
    """Return the name of a tier."""
    if not isinstance(sku, dict) or not isinstance(sku.get("name"), str):
        raise TemplateError("the namespace does not say its tier")
    return str(sku["name"])


def entity_of(symbol: str, config: Mapping[str, Any], file: File) -> ServiceBusQueue:
    """Return a queue, or a subscription."""
    return entity_named(symbol_name(symbol, file), config, file)


def entity_named(name: str, config: Mapping[str, Any], file: File) -> ServiceBusQueue:
    """Return a queue of this name."""
    given = config.get("properties")
    properties: Mapping[str, Any] = given if isinstance(given, dict) else {}

    def read(name: str, default: Any = None) -> Any:
        found = value(properties.get(name), file)
        return default if found is None else found

    return ServiceBusQueue(
        name=name,
        lock=maybe(lambda: duration(read("lockDuration", LOCK))),
        max_delivery_count=maybe(lambda: number(read("maxDeliveryCount", DELIVERIES))),
        dead_letters_to=maybe(lambda: target(properties.get("forwardDeadLetteredMessagesTo"), file)),
        forwards_to=maybe(lambda: target(properties.get("forwardTo"), file)),
        duplicate_detection=maybe(lambda: read("requiresDuplicateDetection", default=False) is True),
        lives=maybe(lambda: life(read("defaultMessageTimeToLive"))),
        dead_letters_expired=maybe(lambda: read("deadLetteringOnMessageExpiration", default=False) is True),
        sessions=maybe(lambda: read("requiresSession", default=False) is True),
    )


def symbol_name(symbol: str, file: File) -> str:
    """Return the name of a resource, without those of its parents; its symbolic name in angle brackets where it is not known."""
    written = configuration(file.section("resources")[symbol]).get("name")
    own = f"{MARK}{written.rpartition('/')[2]}" if isinstance(written, str) and is_path(written) else written
    found = maybe(lambda: value(own, file))
    return found.rpartition("/")[2] if isinstance(found, str) else f"<{symbol}>"


def is_path(written: str) -> bool:
    """True if a text ends with a name behind those of its parents."""
    parents, slash, own = written.rpartition("/")
    return bool(slash) and parents.startswith(MARK) and "}" not in own


def target(node: Any, file: File) -> str | None:
    """Return the name of the queue that a property refers to, such as `errorQueue.name`."""
    match node:
        case {"operator": {"operands": {"operand_1": str(symbol), "operand_2": "name" | "id"}}} if (
            symbol in file.section("resources")
        ):
            return symbol_name(symbol, file)
        case _:
            found = value(node, file)
            return str(found).rpartition("/")[2] if found else None


def duration(text: object) -> timedelta:
    """Return a duration as a Bicep file writes it, such as PT1M."""
    try:
        return app_settings.duration(text)
    except ValueError as error:
        raise TemplateError(str(error)) from None


def life(text: object) -> timedelta | None:
    """Return how long messages live; None for ever."""
    return None if text is None or (lives := duration(text)) > FOR_EVER else lives


def number(found: object) -> int:
    """Return a whole number."""
    if isinstance(found, bool) or not isinstance(found, int):
        raise TemplateError(f"{found!r} is no whole number")
    return found


def grants_of(file: File) -> tuple[Grant, ...] | Unknown:
    """Return the roles for Service Bus that a file assigns, each with who gets it."""
    grants: list[Grant] = []
    for symbol, config, inside in resources_of_type(file, "Microsoft.Authorization/roleAssignments"):
        given = config.get("properties")
        properties: Mapping[str, Any] = given if isinstance(given, dict) else {}
        role = maybe(lambda: str(value(properties.get("roleDefinitionId"), inside)))  # noqa: B023  # called at once
        if isinstance(role, Unknown):
            return Unknown(f"which role {symbol} assigns: {role.why}")
        if (kind := next((each for key, each in ROLES.items() if key in role), None)) is not None:
            grants.append(
                Grant(kind, scope_of(config.get("scope"), inside), principal_of(properties.get("principalId"), inside))
            )
    return tuple(grants) or Unknown("the file assigns no role for Service Bus")


def principal_of(node: Any, file: File) -> str | Unknown:
    """Return the symbolic name of the identity, or of the app, that gets a role."""
    if isinstance(node, str) and isinstance(given := file.given.get(node), Symbol):
        return given.name
    symbol = symbol_of(node)
    if symbol is not None and symbol in file.section("resources"):
        return symbol
    return Unknown("its principal is given by id")


def identities_of(file: File) -> frozenset[str] | Unknown:
    """Return the symbolic names of the identities that the one app of a file runs with."""
    sites = [(symbol, config.get("identity")) for symbol, config, _ in resources_of_type(file, SITES)]
    if len(sites) != 1:
        return Unknown("the file makes several apps" if sites else "the file makes no app")
    [(symbol, identity)] = sites
    if not isinstance(identity, dict):
        return Unknown(f"{symbol} has no identity")
    assigned = str(identity.get("userAssignedIdentities"))
    users = {name for name in file.section("resources") if re.search(rf"\b{re.escape(name)}\b", assigned)}
    return frozenset(users | ({symbol} if "SystemAssigned" in str(identity.get("type")) else set()))


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
    for _, config, _ in resources_of_type(file, "Microsoft.Web/sites/config"):
        if config.get("name") == f"{MARK}appsettings" and isinstance(config.get("properties"), dict):
            yield config["properties"]


def site_settings(file: File) -> Iterator[Mapping[str, Any]]:
    """Yield the settings that are part of a site: `siteConfig.appSettings`, a list of names and values."""
    for _, config, _ in resources_of_type(file, SITES):
        match config.get("properties"):
            case {"siteConfig": {"appSettings": list(pairs)}}:
                yield {
                    str(each["name"]).removeprefix(MARK): each.get("value")
                    for each in pairs
                    if isinstance(each, dict) and "name" in each
                }
            case _:
                pass


@dataclass(frozen=True, slots=True)
class Deployed:
    """The queues and subscriptions that a file makes, with the roles on them and the tier of the namespace."""

    file: Path
    queues: tuple[ServiceBusQueue, ...]
    subscriptions: tuple[ServiceBusQueue, ...]
    grants: tuple[Grant, ...] | Unknown
    tier: str | Unknown
    places: Mapping[str, Place]


def parsed(path: Path) -> File:
    """Return a file as it was parsed.

    Raises:
        TemplateError: it is no Bicep, or has a form that the parser does not know.
    """
    return File(parse(path.read_text(encoding="utf-8-sig")))


def typed(file: File, given: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of parameters, of the types that the file declares.

    Raises:
        TemplateError: there is no such parameter, or it is no number.
    """
    declared = file.section("parameters")
    for name in given:
        if name not in declared:
            raise TemplateError(f"there is no parameter {name}; the file has {', '.join(declared) or 'none'}")
    try:
        return {name: as_type(text, declared[name].get("type")) for name, text in given.items()}
    except ValueError as error:
        raise TemplateError(f"--parameter: {error}") from error


def as_type(text: str, kind: object) -> object:
    """Return a value of a type."""
    match kind:
        case "int":
            return int(text)
        case "bool":
            return text.lower() == "true"
        case _:
            return text


def deployed(file: File, path: Path) -> Deployed:
    """Return what a file makes by itself."""
    places = {name: Place(path, ("resource", name)) for name in file.section("resources")}
    places |= {symbol_name(name, file): Place(path, ("resource", name)) for name in file.section("resources")}
    return Deployed(path, entities_of(file), entities_of(file, SUBSCRIPTIONS), grants_of(file), tier_of(file), places)
