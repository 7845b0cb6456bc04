"""Parse the Service Bus trigger out of a function's bindings. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recoverable.azure.settings import resolved
from recoverable_local.functions_host.worker.worker import Function

TYPE = "servicebustrigger"


@dataclass(frozen=True, slots=True)
class Trigger:
    """The Service Bus trigger of a function.

    Args:
        function: The function's name.
        queue: The queue's name, or the topic's.
        subscription: The topic's subscription; None for a queue.
        connection: The name of the connection's app setting.
        binary: True if the function gets bytes.
        many: True if it gets all messages of a batch at once.
        sessions: True if the queue has sessions.
        auto_complete: True if the host completes messages; None for the value of `host.json`.
        batch_size: The most messages of a batch; None for the value of `host.json`.
        error_queue: The error queue of the function's endpoint, if the function is an endpoint.
    """

    function: str
    queue: str
    subscription: str | None = None
    connection: str = "ServiceBus"
    binary: bool = False
    many: bool = False
    sessions: bool = False
    auto_complete: bool | None = None
    batch_size: int | None = None
    error_queue: str | None = None

    @property
    def path(self) -> str:
        """Return the path of the queue or subscription that it reads."""
        return f"{self.queue}/Subscriptions/{self.subscription}" if self.subscription else self.queue


@dataclass(frozen=True, slots=True)
class NotServed:
    """A function that this host does not run, with the reason."""

    function: str
    reason: str


def trigger_of(function: Function, settings: Mapping[str, str]) -> Trigger | NotServed:
    """Parse a function's trigger, with `%SETTING%` names resolved, or return why the function is not run."""
    bindings = [each for each in function.bindings if str(each.get("type", "")).lower() == TYPE]
    if not bindings:
        kinds = ", ".join(str(each.get("type")) for each in function.bindings) or "none"
        return NotServed(function.name, f"it has no Service Bus trigger; its bindings are {kinds}")
    try:
        return _trigger(function, bindings[0], settings)
    except (KeyError, ValueError) as error:
        return NotServed(function.name, str(error))


def _trigger(function: Function, binding: Mapping[str, Any], settings: Mapping[str, str]) -> Trigger:
    kind = str(binding.get("dataType", "")).lower()
    subscription = binding.get("subscriptionName")
    size, complete = binding.get("maxMessageBatchSize"), binding.get("autoCompleteMessages")
    return Trigger(
        function=function.name,
        queue=resolved(str(binding.get("queueName") or binding["topicName"]), settings),
        subscription=resolved(str(subscription), settings) if subscription else None,
        connection=str(binding.get("connection") or "ServiceBus"),
        binary=kind in ("binary", "1"),
        many=str(binding.get("cardinality", "one")).lower() == "many",
        sessions=_boolean(binding.get("isSessionsEnabled")),
        auto_complete=None if complete is None else _boolean(complete),
        batch_size=None if size is None else int(size),
        error_queue=function.error_queue,
    )


def _boolean(value: object) -> bool:
    return str(value).lower() == "true"
