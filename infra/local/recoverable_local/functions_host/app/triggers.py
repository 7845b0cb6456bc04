"""Parse a function's bindings: its Service Bus trigger and its Service Bus outputs. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from recoverable._service_bus.app_settings import is_connection_string, resolved
from recoverable_local.functions_host.worker.worker import Function

TYPE = "servicebustrigger"
OUTPUT_TYPE = "servicebus"


@dataclass(frozen=True, slots=True)
class Output:
    """An output binding of a function.

    Args:
        name: The name of the function's parameter; `$return` for what it returns.
        entity: The queue or topic that gets the message.
        connection: The name of the connection's app setting.
        is_topic: True if it is a topic.
    """

    name: str
    entity: str
    connection: str
    is_topic: bool = False


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
        is_coroutine: True if the function takes none of the worker's threads.
        outputs: The function's output bindings.
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
    is_coroutine: bool = False
    outputs: tuple[Output, ...] = ()

    @property
    def connections(self) -> tuple[str, ...]:
        """Return the names of all connections that it needs, the trigger's first."""
        return tuple(dict.fromkeys([self.connection, *(each.connection for each in self.outputs)]))

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
    triggers = [each for each in function.bindings if kind_of(each) == TYPE]
    if not triggers:
        kinds = ", ".join(str(each.get("type")) for each in function.bindings) or "none"
        return NotServed(function.name, f"it has no Service Bus trigger; its bindings are {kinds}")
    others = [each for each in function.bindings if each is not triggers[0]]
    try:
        return replace(
            _trigger(function, triggers[0], settings), outputs=tuple(_output(each, settings) for each in others)
        )
    except (KeyError, ValueError) as error:
        return NotServed(function.name, str(error))


def kind_of(binding: Mapping[str, Any]) -> str:
    """Return a binding's type in lower case, as the host compares it."""
    return str(binding.get("type", "")).lower()


def _trigger(function: Function, binding: Mapping[str, Any], settings: Mapping[str, str]) -> Trigger:
    kind = str(binding.get("dataType", "")).lower()
    subscription = binding.get("subscriptionName")
    size, complete = binding.get("maxMessageBatchSize"), binding.get("autoCompleteMessages")
    return Trigger(
        function=function.name,
        queue=resolved(str(binding.get("queueName") or binding["topicName"]), settings),
        subscription=resolved(str(subscription), settings) if subscription else None,
        connection=_connection(binding, settings),
        binary=kind in ("binary", "1"),
        many=str(binding.get("cardinality", "one")).lower() == "many",
        sessions=_boolean(binding.get("isSessionsEnabled")),
        auto_complete=None if complete is None else _boolean(complete),
        batch_size=None if size is None else int(size),
        error_queue=function.error_queue,
        is_coroutine=function.is_coroutine,
    )


def _output(binding: Mapping[str, Any], settings: Mapping[str, str]) -> Output:
    name, kind = str(binding.get("name")), binding.get("type")
    if kind_of(binding) != OUTPUT_TYPE or str(binding.get("direction", "out")).lower() != "out":
        raise ValueError(
            f"its binding {name!r} is of the type {kind!r}, and only the Service Bus trigger and output are offered here"
        )
    entity = binding.get("queueName") or binding["topicName"]
    return Output(
        name, resolved(str(entity), settings), _connection(binding, settings), is_topic="queueName" not in binding
    )


def _connection(binding: Mapping[str, Any], settings: Mapping[str, str]) -> str:
    name = str(binding.get("connection") or "ServiceBus")
    if is_connection_string(name):
        raise ValueError(
            f"the connection of its binding {binding.get('name')!r} is a connection string, which is not shown here because it holds a key; "
            "Azure looks for an app setting of that name: put the string into an app setting, and write the setting's name"
        )
    return resolved(name, settings)


def _boolean(value: object) -> bool:
    return str(value).lower() == "true"
