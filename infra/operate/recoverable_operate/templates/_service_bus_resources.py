"""Read from the resources of an ARM template what it says of Service Bus: queues, subscriptions, roles, and the app's settings and identities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, Literal

from recoverable._service_bus import app_settings
from recoverable_operate.rules._on_service_bus import FOR_EVER, NAMESPACE, Grant, ServiceBusQueue
from recoverable_operate.rules._rule import Unknown
from recoverable_operate.templates._arm_functions import Later, read_safely
from recoverable_operate.templates._arm_resources import Resource, last_name
from recoverable_operate.templates._document import RefusedValue, TemplateError, maybe

NAMESPACES = "microsoft.servicebus/namespaces"
QUEUES = f"{NAMESPACES}/queues"
SUBSCRIPTIONS = f"{NAMESPACES}/topics/subscriptions"
SITES = "microsoft.web/sites"
ASSIGNMENTS = "microsoft.authorization/roleassignments"

ROLES: Mapping[str, Literal["receive", "send", "own"]] = {
    "4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0": "receive",
    "69a216fc-b8fb-44d8-bc22-1f3c2cd27a39": "send",
    "090c5cfd-751d-490a-894a-3ce6f1109419": "own",
}
"""The roles for Service Bus, by their ids ("Azure built-in roles")."""

LOCK, DELIVERIES = "PT1M", 10
"""The defaults of a queue (Microsoft.ServiceBus namespaces/queues)."""

LONGEST_LOCK, MOST_DELIVERIES = timedelta(minutes=5), 2000
"""The largest values that Service Bus takes (Service Bus quotas)."""

PLANS = "microsoft.web/serverfarms"
LONGEST_ON_CONSUMPTION = timedelta(minutes=10)
"""The longest functionTimeout on the plan Consumption (Azure Functions, "Function app timeout duration")."""

NO_NAMESPACE = "the namespace is not in this file"

Resources = tuple[Resource, ...]


def known(found: Any, default: Any = None) -> Any:
    """Return a value, or the default where nothing is set.

    Raises:
        TemplateError: it is not known before the deployment.
    """
    if isinstance(found, Later):
        raise TemplateError(found.because)
    return default if found is None else found


def of_type(resources: Resources, kind: str) -> list[Resource]:
    """Return the resources of a type."""
    return [each for each in resources if each.type == kind]


def entity_of(resource: Resource) -> ServiceBusQueue:
    """Return a queue, or a subscription."""
    return entity_named(resource.own_name, resource.read("properties"))


def entity_named(name: str, properties: Any) -> ServiceBusQueue:
    """Return a queue of this name with the properties of a template."""

    def read(name: str, default: Any = None) -> Any:
        return known(read_safely(properties, name), default)

    return ServiceBusQueue(
        name=name,
        lock=maybe(lambda: lock(name, read("lockDuration", LOCK))),
        max_delivery_count=maybe(lambda: deliveries(name, read("maxDeliveryCount", DELIVERIES))),
        dead_letters_to=maybe(lambda: target(read("forwardDeadLetteredMessagesTo"))),
        forwards_to=maybe(lambda: target(read("forwardTo"))),
        duplicate_detection=maybe(lambda: read("requiresDuplicateDetection", default=False) is True),
        lives=maybe(lambda: life(read("defaultMessageTimeToLive"))),
        dead_letters_expired=maybe(lambda: read("deadLetteringOnMessageExpiration", default=False) is True),
        sessions=maybe(lambda: read("requiresSession", default=False) is True),
        deleted_when_idle=maybe(lambda: life(read("autoDeleteOnIdle"))),
        status=maybe(lambda: str(read("status", "Active"))),
    )


def lock(name: str, found: object) -> timedelta:
    """Return how long a queue locks a message."""
    if (time := duration(found)) > LONGEST_LOCK:
        raise RefusedValue(f"{name} has a lockDuration of {found}; write PT5M at most")
    return time


def deliveries(name: str, found: object) -> int:
    """Return how often a queue delivers a message."""
    if not 1 <= (count := number(found)) <= MOST_DELIVERIES:
        raise RefusedValue(f"{name} has a maxDeliveryCount of {count}; write a number from 1 to {MOST_DELIVERIES}")
    return count


def target(found: object) -> str | None:
    """Return the name of the queue that a property gives by name, id or address."""
    return last_name(found) if found else None


def duration(text: object) -> timedelta:
    """Return a duration, such as PT1M."""
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


def tier_of(resources: Resources, queue: Resource | None) -> str | Unknown:
    """Return the tier of the namespace of a queue."""
    name = queue.name.rpartition("/")[0].lower() if queue else ""
    namespaces = of_type(resources, NAMESPACES)
    mine = [each for each in namespaces if each.name.lower() == name or len(namespaces) == 1]
    return maybe(lambda: str(known(mine[0].read("sku", "name"), "Standard"))) if mine else Unknown(NO_NAMESPACE)


def grants_of(resources: Resources) -> tuple[Grant, ...] | Unknown:
    """Return the roles for Service Bus that a template assigns, each with who gets it."""
    grants: list[Grant] = []
    for each in of_type(resources, ASSIGNMENTS):
        role = each.read("properties", "roleDefinitionId")
        if isinstance(role, Later):
            return Unknown(f"which role {each.own_name} assigns: {role.because}")
        if (kind := next((kind for id_, kind in ROLES.items() if id_ in str(role)), None)) is not None:
            grants.append(Grant(kind, scope_of(each), principal_of(each.read("properties", "principalId"))))
    return tuple(grants) or Unknown("the file assigns no role for Service Bus")


def scope_of(assignment: Resource) -> str:
    """Return the name of the queue, or of the topic, on which a role is assigned; `NAMESPACE` for anything above it."""
    scope = str(assignment.body.get("scope") or "").lower()
    is_below = any(f"{NAMESPACES}/" in scope and f"/{kind}/" in scope for kind in ("queues", "topics"))
    return last_name(assignment.body["scope"]) if is_below else NAMESPACE


def principal_of(found: Any) -> str | Unknown:
    """Return the id of the identity, or of the app, that gets a role."""
    is_principal = isinstance(found, Later) and found.path[-1:] and found.path[-1].lower() == "principalid"
    return from_provider(found.of) if is_principal else Unknown("its principal is given by id")


def from_provider(id_: str) -> str:
    """Return an id from its provider on, in small letters."""
    place = id_.lower().find("/providers/")
    return id_.lower()[max(place, 0) :]


def site_of(resources: Resources, service: str | None) -> Resource | Unknown:
    """Return the app: the one function app of a template, or the one that has azd's tag for a service."""
    sites = of_type(resources, SITES)
    apps = [each for each in sites if "functionapp" in str(each.body.get("kind", "")).lower()] or sites
    tagged = [each for each in apps if service and each.read("tags", "azd-service-name") == service]
    if len(tagged or apps) == 1:
        return (tagged or apps)[0]
    return Unknown("the file makes several apps" if apps else "the file makes no app")


def longest_of(resources: Resources) -> timedelta | Unknown | None:
    """Return how long the one plan of a template lets a function run; None for any time."""
    plans = of_type(resources, PLANS)
    if len(plans) != 1:
        return Unknown("the file makes several plans" if plans else "the plan is not in this file")
    tier = maybe(lambda: str(known(plans[0].read("sku", "tier"), known(plans[0].read("sku", "name"), ""))))
    if isinstance(tier, Unknown):
        return tier
    return LONGEST_ON_CONSUMPTION if tier.lower() in ("dynamic", "y1") else None


def identities_of(site: Resource) -> frozenset[str] | Unknown:
    """Return the ids of the identities that an app runs with."""
    kind, users = site.read("identity", "type"), site.read("identity", "userAssignedIdentities")
    if kind is None:
        return Unknown(f"{site.own_name} has no identity")
    if isinstance(kind, Later) or isinstance(users, Later):
        return Unknown(f"which identities {site.own_name} has is known in Azure alone")
    own = {site.id} if "systemassigned" in str(kind).lower() else set()
    return frozenset(own | {from_provider(str(each)) for each in users or ()})


def settings_of(resources: Resources, site: Resource | Unknown) -> Mapping[str, str | Unknown] | Unknown:
    """Return the settings of an app; where the template makes none, those of the one app whose settings it makes."""
    found = [each for each in own_settings(resources) if isinstance(site, Unknown) or each[0] == site.name.lower()]
    found += [] if isinstance(site, Unknown) else [(site.name, each) for each in list_of_settings(site)]
    if len(found) != 1:
        return Unknown("the file has the settings of several apps" if found else "the file has no app settings")
    [(_, settings)] = found
    if not isinstance(settings, dict):
        return Unknown(settings.because if isinstance(settings, Later) else "the app settings are no object")
    return {name: Unknown(each.because) if isinstance(each, Later) else str(each) for name, each in settings.items()}


def own_settings(resources: Resources) -> Iterator[tuple[str, Any]]:
    """Yield the settings that are resources of their own, with the name of their app."""
    for each in of_type(resources, f"{SITES}/config"):
        app, _, kind = each.name.rpartition("/")
        if kind.lower() == "appsettings":
            yield app.lower(), each.read("properties") or {}


def list_of_settings(site: Resource) -> Iterator[Any]:
    """Yield the settings that are part of a site: `siteConfig.appSettings`, a list of names and values."""
    pairs = site.read("properties", "siteConfig", "appSettings")
    if isinstance(pairs, list):
        yield {str(each.get("name")): each.get("value") for each in pairs if isinstance(each, dict)}
    elif pairs is not None:
        yield pairs
