"""Read a Bicep file, its local modules and the `host.json` of its app into descriptions: one for each queue that a function may read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recoverable._service_bus.app_settings import duration
from recoverable_operate.rules._ladder import PREFIX, ladder_of
from recoverable_operate.rules._on_service_bus import FOR_EVER, NAMESPACE, Grant, OnServiceBus, ServiceBusQueue
from recoverable_operate.rules._rule import Unknown
from recoverable_operate.templates._bicep_values import File, configuration, names_of, value
from recoverable_operate.templates._document import TemplateError, maybe
from recoverable_operate.templates._function_app import App, Settings, app_of, trigger_on, workload

if TYPE_CHECKING:
    from pycep import BicepParser

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


def resources_of_type(file: File, kind: str) -> Iterator[tuple[str, Mapping[str, Any], File]]:
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
    """Return a queue."""
    given = config.get("properties")
    properties: Mapping[str, Any] = given if isinstance(given, dict) else {}

    def read(name: str, default: Any = None) -> Any:
        found = value(properties.get(name), file)
        return default if found is None else found

    return ServiceBusQueue(
        name=symbol_name(symbol, file),
        lock=maybe(lambda: duration_of(read("lockDuration", LOCK))),
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


def duration_of(text: object) -> timedelta:
    """Return a duration as a Bicep file writes it, such as PT1M."""
    try:
        return duration(text)
    except ValueError as error:
        raise TemplateError(str(error)) from None


def life(text: object) -> timedelta | None:
    """Return how long messages live; None for ever."""
    return None if text is None or (lives := duration_of(text)) > FOR_EVER else lives


def number(found: object) -> int:
    """Return a whole number."""
    if isinstance(found, bool) or not isinstance(found, int):
        raise TemplateError(f"{found!r} is no whole number")
    return found


def grants_of(file: File) -> tuple[Grant, ...] | Unknown:
    """Return the roles for Service Bus that a file assigns, to whomever."""
    grants: list[Grant] = []
    for symbol, config, inside in resources_of_type(file, "Microsoft.Authorization/roleAssignments"):
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
    for _, config, _ in resources_of_type(file, "Microsoft.Web/sites/config"):
        if config.get("name") == "appsettings" and isinstance(config.get("properties"), dict):
            yield config["properties"]


def site_settings(file: File) -> Iterator[Mapping[str, Any]]:
    """Yield the settings that are part of a site: `siteConfig.appSettings`, a list of names and values."""
    for _, config, _ in resources_of_type(file, "Microsoft.Web/sites"):
        match config.get("properties"):
            case {"siteConfig": {"appSettings": list(pairs)}}:
                yield {
                    str(each["name"]): each.get("value") for each in pairs if isinstance(each, dict) and "name" in each
                }
            case _:
                pass


@dataclass(frozen=True, slots=True)
class Deployed:
    """The queues and subscriptions that a file makes, with the roles on them and the tier of the namespace."""

    queues: tuple[ServiceBusQueue, ...]
    subscriptions: tuple[ServiceBusQueue, ...]
    grants: tuple[Grant, ...] | Unknown
    tier: str | Unknown


def describe_bicep(path: Path, parameters: Mapping[str, str]) -> tuple[OnServiceBus, ...]:
    """Return a description for each queue that is no error queue, and that somebody may read as far as the file assigns roles.

    Raises:
        TemplateError: the file cannot be read.
        OSError: it cannot be opened.
    """
    file = parsed(path)
    file = replace(file, given=typed(file, parameters))
    parts, app = [deployed(file), *modules(file, path)], app_of(path, settings_of(file))
    return tuple(describe_entity(queue, part, app) for part in parts for queue in read_queues(part))


def parsed(path: Path) -> File:
    """Return a file as it was parsed.

    Raises:
        TemplateError: it is no Bicep, or has a form that the parser does not know.
    """
    text, read = path.read_text(encoding="utf-8"), parser()
    try:
        return File(read.parse(text=text))
    except Exception as error:
        line = getattr(error, "line", None)
        raise TemplateError(f"the parser does not understand it{f' from line {line}' if line else ''}") from error


@cache
def parser() -> BicepParser:
    """Return the parser, which takes a while to load its grammar."""
    from pycep import BicepParser  # noqa: PLC0415  # for those who look at Bicep

    return BicepParser()


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


def deployed(file: File) -> Deployed:
    """Return what a file makes by itself."""
    return Deployed(entities_of(file), entities_of(file, SUBSCRIPTIONS), grants_of(file), tier_of(file))


def modules(file: File, path: Path) -> Iterator[Deployed]:
    """Yield what the local modules of a file make; those of registries are not looked at."""
    for module in file.section("modules").values():
        local = path.parent / str((module.get("detail") or {}).get("path", ""))
        if module.get("type") == "local" and local.is_file():
            inner = parsed(local)
            config = module.get("config")
            passed = (config.get("params") if isinstance(config, dict) else None) or {}
            values = {name: maybe(lambda node=node: value(node, file)) for name, node in passed.items()}  # type: ignore[misc]
            yield deployed(
                replace(inner, given={name: each for name, each in values.items() if not isinstance(each, Unknown)})
            )


def read_queues(part: Deployed) -> Iterator[ServiceBusQueue]:
    """Yield the queues that are no error queues, and that somebody may read as far as roles are assigned."""
    errors = {queue.dead_letters_to for queue in part.queues}
    readers = None if isinstance(part.grants, Unknown) else {each.scope for each in part.grants if each.role != "send"}
    for queue in part.queues:
        if queue.name not in errors and (readers is None or {queue.name, NAMESPACE} & readers):
            yield queue


def describe_entity(queue: ServiceBusQueue, part: Deployed, app: App) -> OnServiceBus:
    """Return the description of a queue."""
    return OnServiceBus(
        queue,
        error_entity_of(queue, part.queues, app.settings),
        host=app.host,
        trigger=app.folder
        if isinstance(app.folder, Unknown)
        else trigger_on(queue.name, app.folder, app.known_settings),
        workload=workload(app),
        settings=app.settings,
        grants=part.grants,
        subscriptions=tuple(each for each in part.subscriptions if each.forwards_to == queue.name),
        tier=part.tier,
        ladder=ladder_of({} if isinstance(app.settings, Unknown) else app.settings),
    )


def error_entity_of(
    queue: ServiceBusQueue, queues: tuple[ServiceBusQueue, ...], settings: Settings
) -> ServiceBusQueue | Unknown | None:
    """Return the queue that gets a queue's dead letters, else the one that the app settings name."""
    named = None if isinstance(settings, Unknown) else settings.get(f"{PREFIX}ERROR_QUEUE")
    target = queue.dead_letters_to if queue.dead_letters_to is not None else named
    if target is None or isinstance(target, Unknown):
        return target
    missing = Unknown(f"the queue {target} is not in this file; `recoverable check --queue` looks at a deployed one")
    return next((each for each in queues if each.name == target), missing)
