"""The Service Bus entities of main.bicep as the emulator has them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from infra.azure.bicep import Deployment
from infra.azure.durations import FOREVER, iso
from recoverable_local.service_bus import Queue, ServiceBusNamespace, Subscription, Topic

SERVICE_BUS = "Microsoft.ServiceBus/namespaces"


def queues(deployed: Deployment) -> list[Queue]:
    """Return the queues."""
    found = deployed.of_type(f"{SERVICE_BUS}/queues").values()
    return sorted((Queue(**settings(config, Queue)) for config in found), key=lambda queue: queue.name)


def topics(deployed: Deployment) -> list[Topic]:
    """Return the topics with their subscriptions."""
    subscriptions = deployed.of_type(f"{SERVICE_BUS}/topics/subscriptions").values()
    return [
        Topic(
            config["name"],
            tuple(Subscription(**settings(each, Subscription)) for each in subscriptions if each["parent"] == name),
        )
        for name, config in deployed.of_type(f"{SERVICE_BUS}/topics").items()
    ]


def namespace(deployed: Deployment) -> ServiceBusNamespace:
    """Return the namespace, on any free port of loopback."""
    return ServiceBusNamespace(queues(deployed), topics(deployed))


def settings(config: dict[str, Any], kind: type[Queue] | type[Subscription]) -> dict[str, Any]:
    """Return an entity's settings by the emulator's names."""
    of = {"name": config["name"], **{snake(key): read(value) for key, value in config["properties"].items()}}
    if of.get("requires_duplicate_detection"):
        of["duplicate_detection_window"] = of["duplicate_detection_history_time_window"]
    known = {field.name for field in fields(kind)}
    return {key: value for key, value in of.items() if key in known}


def read(value: Any) -> Any:
    """Return a value, with durations as such and "for ever" as None."""
    if not isinstance(value, str) or not value.startswith("P"):
        return value
    return None if value == FOREVER else iso(value)


def snake(name: str) -> str:
    """Return a name in Python's spelling."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
