"""The Terraform page for Azure: its files are Terraform's language, and have right all that `recoverable check` looks at."""

from __future__ import annotations

from typing import Any

import pytest

from docs.pages import ROOT, files, page, section
from docs.terraform import Reference, Resource, only, resources
from recoverable._service_bus.host_json import read_host_json
from recoverable_local.testing.azure.app import functions_of
from recoverable_operate.rules import (
    SERVICE_BUS_RULES,
    Grant,
    OnServiceBus,
    ServiceBusQueue,
    Trigger,
    Unknown,
    Workload,
    check,
    ladder_of,
    worker_threads,
)
from recoverable_operate.templates._service_bus_resources import duration, life

PAGE = "deploy/azure.md"
MAIN = files(page(PAGE))["main.tf"]
ROLES: dict[str, Any] = {"Azure Service Bus Data Receiver": "receive", "Azure Service Bus Data Sender": "send"}
QUEUE, APP = "azurerm_servicebus_queue", "azurerm_function_app_flex_consumption"


def described(text: str) -> OnServiceBus:
    """Return what the rules look at, as the file, the repository's host.json and the page's function say it."""
    found = resources(text)
    queues = {each.name: each for each in found if each.kind == QUEUE}
    settings = settings_of(only(found, APP), queues)
    known = {name: value for name, value in settings.items() if isinstance(value, str)}
    host = read_host_json(ROOT / "host.json", known).options
    assert host.max_concurrent_calls is not None
    return OnServiceBus(
        queue_of(queues["orders"], queues),
        queue_of(queues["errors"], queues),
        host=host,
        trigger=trigger(),
        workload=Workload(host.max_concurrent_calls, worker_threads(known, cores=1)),
        settings=settings,
        grants=tuple(grants(found, queues)),
        identities=frozenset({"app"}),
        ladder=ladder_of(settings),
        subscriptions=(),  # the file makes none
        tier=only(found, "azurerm_servicebus_namespace").arguments["sku"],
    )


def queue_of(each: Resource, queues: dict[str, Resource]) -> ServiceBusQueue:
    given = each.arguments
    dead_letters = given.get("forward_dead_lettered_messages_to")
    return ServiceBusQueue(
        name=given["name"],
        lock=duration(given["lock_duration"]),
        max_delivery_count=given["max_delivery_count"],
        dead_letters_to=queues[dead_letters.name].arguments["name"] if dead_letters else None,
        forwards_to=given.get("forward_to"),
        duplicate_detection=given["requires_duplicate_detection"],
        lives=life(given["default_message_ttl"]),
        dead_letters_expired=given["dead_lettering_on_message_expiration"],
    )


def settings_of(app: Resource, queues: dict[str, Resource]) -> dict[str, str | Unknown]:
    return {name: setting(value, queues) for name, value in app.arguments["app_settings"].items()}


def setting(value: Any, queues: dict[str, Resource]) -> str | Unknown:
    match value:
        case Reference("azurerm_servicebus_queue", name, "name"):
            return str(queues[name].arguments["name"])
        case Reference(kind, name, attribute):
            return Unknown(f"only Azure knows {kind}.{name}.{attribute}")
        case _:
            return str(value)


def grants(found: list[Resource], queues: dict[str, Resource]) -> list[Grant]:
    given = [each.arguments for each in found if each.kind == "azurerm_role_assignment"]
    assert {each["principal_id"] for each in given} == {
        Reference("azurerm_user_assigned_identity", "app", "principal_id")
    }
    on_queues = [each for each in given if each["scope"].kind == QUEUE]
    return [
        Grant(ROLES[each["role_definition_name"]], queues[each["scope"].name].arguments["name"], "app")
        for each in on_queues
    ]


def trigger() -> Trigger:
    """Return the trigger that the page's function has."""
    names: dict[str, Any] = {}
    exec(
        compile(section(PAGE, "### Terraform").split("```python\n")[1].split("```")[0], PAGE, "exec"), names
    )  # our own page
    [function] = functions_of(names["app"], "orders")
    return Trigger(function.name, function.binary, function.completes, many=function.many)


def findings(text: str) -> list[str]:
    return [each.rule for each in check(SERVICE_BUS_RULES, described(text)) if each.problems]


def test_nothing_is_found() -> None:
    assert findings(MAIN) == []


WRONG = {
    "max-delivery-count": ("max_delivery_count                      = 100", "max_delivery_count                      = 10"),
    "dead-letters": ("  forward_dead_lettered_messages_to       = azurerm_servicebus_queue.errors.name\n", ""),
    "error-queue-duplicates": ("requires_duplicate_detection         = false", "requires_duplicate_detection         = true"),
    "roles": ('"Azure Service Bus Data Receiver"', '"Azure Service Bus Data Sender"'),
    "threads": ('PYTHON_THREADPOOL_THREAD_COUNT      = "16"', 'PYTHON_THREADPOOL_THREAD_COUNT      = "4"'),
    "tier": ('sku                 = "Standard"', 'sku                 = "Basic"'),
    "settings": ("immediate_retries = 5", "immediate_retries = -5"),
}  # fmt: skip


@pytest.mark.parametrize("rule", WRONG)
def test_a_file_that_has_something_wrong_is_found(rule: str) -> None:
    right, wrong = WRONG[rule]
    assert right in MAIN

    assert rule in findings(MAIN.replace(right, wrong, 1))
