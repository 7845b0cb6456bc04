"""Write small Bicep files: one queue that a function reads, and its error queue, all right, with a test's changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

GOOD = """
param immediateRetries int = 5

var receiver = subscriptionResourceId('Microsoft.Authorization/roleDefinitions', '4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0')
var sender = subscriptionResourceId('Microsoft.Authorization/roleDefinitions', '69a216fc-b8fb-44d8-bc22-1f3c2cd27a39')

resource bus 'Microsoft.ServiceBus/namespaces@2024-01-01' = {
  name: 'shop-${uniqueString(resourceGroup().id)}'
  sku: { name: 'Standard' }
}

resource errorQueue 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' = {
  parent: bus
  name: 'orders-error'
  properties: {
    maxDeliveryCount: 2000
    deadLetteringOnMessageExpiration: true
  }
}

resource ordersQueue 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' = {
  parent: bus
  name: 'orders'
  properties: {
    maxDeliveryCount: 100
    forwardDeadLetteredMessagesTo: errorQueue.name
    requiresDuplicateDetection: true
  }
}

resource events 'Microsoft.ServiceBus/namespaces/topics@2024-01-01' = {
  parent: bus
  name: 'events'
}

resource ordersSubscription 'Microsoft.ServiceBus/namespaces/topics/subscriptions@2024-01-01' = {
  parent: events
  name: 'placed'
  properties: {
    forwardTo: ordersQueue.name
    forwardDeadLetteredMessagesTo: 'orders-error'
    deadLetteringOnMessageExpiration: 1 == 1
  }
}

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: 'shop'
}

resource shop 'Microsoft.Web/sites@2024-04-01' = {
  name: 'shop'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: { '${identity.id}': {} }
  }
}

resource appSettings 'Microsoft.Web/sites/config@2024-04-01' = {
  name: 'appsettings'
  properties: {
    ServiceBus__fullyQualifiedNamespace: '${bus.name}.servicebus.windows.net'
    RECOVERABLE_ERROR_QUEUE: errorQueue.name
    RECOVERABLE_IMMEDIATE_RETRIES: string(immediateRetries)
    PYTHON_THREADPOOL_THREAD_COUNT: '16'
  }
}

resource mayReceive 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(ordersQueue.id, receiver)
  scope: ordersQueue
  properties: { roleDefinitionId: receiver, principalId: identity.properties.principalId }
}

resource maySend 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(ordersQueue.id, sender)
  scope: ordersQueue
  properties: { roleDefinitionId: sender, principalId: identity.properties.principalId }
}

resource maySendErrors 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(errorQueue.id, sender)
  scope: errorQueue
  properties: { roleDefinitionId: sender, principalId: identity.properties.principalId }
}
"""

HOST: dict[str, Any] = {
    "version": "2.0",
    "functionTimeout": "00:05:00",
    "extensionBundle": {"id": "Microsoft.Azure.Functions.ExtensionBundle", "version": "[4.*, 5.0.0)"},
    "extensions": {
        "serviceBus": {"maxAutoLockRenewalDuration": "00:10:00", "maxConcurrentCalls": 16, "prefetchCount": 0}
    },
}


def changed(old: str = "", new: str = "") -> str:
    """Return the good file with one text in place of another, which must be there once."""
    assert not old or GOOD.count(old) == 1, old
    return GOOD.replace(old, new) if old else GOOD


def host(**options: object) -> dict[str, Any]:
    """Return the good `host.json` with other options for Service Bus."""
    return {**HOST, "extensions": {"serviceBus": {**HOST["extensions"]["serviceBus"], **options}}}


CODE = """
from recoverable import Recoverability
from recoverable.azure import ServiceBusEndpoint

orders = ServiceBusEndpoint(print, Recoverability.from_environment(), queue="orders", connection="ServiceBus")
app.register_functions(orders.blueprint())
"""


def written(folder: Path, bicep: str, host_json: object = HOST, code: str | None = CODE) -> str:
    """Write the file below a `host.json` and the app's code, and return its path."""
    (folder / "host.json").write_text(json.dumps(host_json), encoding="utf-8")
    if code is not None:
        (folder / "function_app.py").write_text(code, encoding="utf-8")
    path = folder / "infra" / "main.bicep"
    path.parent.mkdir(exist_ok=True)
    path.write_text(bicep, encoding="utf-8")
    return str(path)


ALL_DONE = "Nothing found.\n27 of 27 checks done (27 rules, 1 function).\n"
"""What is reported of a queue in which all is right."""
