"""Write small ARM templates, as Bicep compiles to: one queue that a function reads, and its error queue, all right, with a test's changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from operate.check.templates import Template
from operate.check.templates import changed as changed_in
from recoverable_operate.rules import SERVICE_BUS_RULES

SCHEMA = "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#"

BUS, EVENTS = "format('shop-{0}', uniqueString(resourceGroup().id))", "events"
RECEIVER, SENDER = "4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0", "69a216fc-b8fb-44d8-bc22-1f3c2cd27a39"
IDENTITY = "[reference('identity', '2024-11-30').principalId]"

ELSEWHERE = "[reference('bus').something]"
"""A value that Azure alone knows."""


def queue(name: str, **properties: Any) -> Template:
    """Return a queue."""
    written = f"[format('{{0}}/{{1}}', {BUS}, '{name}')]"
    return {"type": "Microsoft.ServiceBus/namespaces/queues", "name": written, "properties": properties}


def role(role_id: str, entity: str, principal: str = IDENTITY) -> Template:
    """Return a role that the app has on a queue."""
    return {
        "type": "Microsoft.Authorization/roleAssignments",
        "scope": f"[resourceId('Microsoft.ServiceBus/namespaces/queues', {BUS}, '{entity}')]",
        "name": f"[guid('{entity}', '{role_id}')]",
        "properties": {
            "roleDefinitionId": f"[subscriptionResourceId('Microsoft.Authorization/roleDefinitions', '{role_id}')]",
            "principalId": principal,
        },
    }


GOOD: Template = {
    "bus": {"type": "Microsoft.ServiceBus/namespaces", "name": f"[{BUS}]", "sku": {"name": "Standard"}},
    "errorQueue": queue("orders-error", maxDeliveryCount=2000, deadLetteringOnMessageExpiration=True),
    "ordersQueue": queue(
        "orders", maxDeliveryCount=100, forwardDeadLetteredMessagesTo="orders-error", requiresDuplicateDetection=True
    ),
    "ordersSubscription": {
        "type": "Microsoft.ServiceBus/namespaces/topics/subscriptions",
        "name": f"[format('{{0}}/{{1}}/{{2}}', {BUS}, '{EVENTS}', 'placed')]",
        "properties": {
            "forwardTo": "orders",
            "forwardDeadLetteredMessagesTo": "orders-error",
            "deadLetteringOnMessageExpiration": "[equals(1, 1)]",
        },
    },
    "identity": {"type": "Microsoft.ManagedIdentity/userAssignedIdentities", "name": "shop"},
    "shop": {
        "type": "Microsoft.Web/sites",
        "name": "shop",
        "identity": {
            "type": "UserAssigned",
            "userAssignedIdentities": {
                "[format('{0}', resourceId('Microsoft.ManagedIdentity/userAssignedIdentities', 'shop'))]": {}
            },
        },
    },
    "appSettings": {
        "type": "Microsoft.Web/sites/config",
        "name": "[format('{0}/{1}', 'shop', 'appsettings')]",
        "properties": {
            "ServiceBus__fullyQualifiedNamespace": f"[format('{{0}}.servicebus.windows.net', {BUS})]",
            "RECOVERABLE_ERROR_QUEUE": "orders-error",
            "RECOVERABLE_IMMEDIATE_RETRIES": "[string(parameters('immediateRetries'))]",
            "PYTHON_THREADPOOL_THREAD_COUNT": "16",
        },
    },
    "mayReceive": role(RECEIVER, "orders"),
    "maySend": role(SENDER, "orders"),
    "maySendErrors": role(SENDER, "orders-error"),
}

OF_QUEUE, OF_ERRORS, OF_SUBSCRIPTION, OF_APP = (
    f"{each}.properties" for each in ("ordersQueue", "errorQueue", "ordersSubscription", "appSettings")
)


def changed(changes: Template | None = None, resources: Template = GOOD) -> Template:
    """Return the good resources with other values at these paths; None takes one out."""
    return changed_in(resources, changes or {})


HOST: dict[str, Any] = {
    "version": "2.0",
    "functionTimeout": "00:05:00",
    "extensionBundle": {"id": "Microsoft.Azure.Functions.ExtensionBundle", "version": "[4.*, 5.0.0)"},
    "extensions": {
        "serviceBus": {"maxAutoLockRenewalDuration": "00:10:00", "maxConcurrentCalls": 16, "prefetchCount": 0}
    },
}


def host(**options: object) -> dict[str, Any]:
    """Return the good `host.json` with other options for Service Bus."""
    return {**HOST, "extensions": {"serviceBus": {**HOST["extensions"]["serviceBus"], **options}}}


CODE = """
from recoverable import Recoverability
from recoverable.azure import ServiceBusEndpoint

orders = ServiceBusEndpoint(print, Recoverability.from_environment(), queue="orders", connection="ServiceBus")
app.register_functions(orders.blueprint())
"""

PARAMETERS: Template = {"immediateRetries": {"type": "int", "defaultValue": 5}}


def document(resources: object, **sections: object) -> Template:
    """Return a template of language 2.0, in which resources have symbolic names."""
    head = {"$schema": SCHEMA, "languageVersion": "2.0", "contentVersion": "1.0.0.0", "parameters": PARAMETERS}
    return {**head, "resources": resources, **sections}


def module(
    resources: object, *, condition: object = True, given: Template | None = None, **sections: object
) -> Template:
    """Return a nested deployment with a scope of its own, as a module is compiled to."""
    return {
        "type": "Microsoft.Resources/deployments",
        "name": "more",
        "condition": condition,
        "properties": {
            "expressionEvaluationOptions": {"scope": "inner"},
            "parameters": given or {},
            "template": document(resources, **sections),
        },
    }


def written(
    folder: Path, resources: object = GOOD, host_json: object = HOST, code: str | None = CODE, **sections: object
) -> str:
    """Write the template below a `host.json` and the app's code, and return its path."""
    (folder / "host.json").write_text(json.dumps(host_json), encoding="utf-8")
    if code is not None:
        (folder / "function_app.py").write_text(code, encoding="utf-8")
    path = folder / "infra" / "main.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(document(resources, **sections), indent=2), encoding="utf-8")
    return str(path)


RULES = len(SERVICE_BUS_RULES)
ALL_DONE = f"Nothing found.\n{RULES} of {RULES} checks done ({RULES} rules, 1 function).\n"
"""What is reported of a queue in which all is right."""
