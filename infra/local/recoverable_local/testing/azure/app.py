"""Find the functions of an app that a queue triggers, as their decorators declare them."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from azure.functions import Blueprint, Cardinality, DataType, FunctionApp
from azure.functions.decorators.function_app import Function

from recoverable import Recoverability
from recoverable._service_bus.app_settings import resolved
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.service_bus.broker.profile import subscription_path

App = FunctionApp | Blueprint | ServiceBusEndpoint[Any]
TRIGGER = "serviceBusTrigger"


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggeredFunction:
    """A function with a Service Bus trigger.

    Args:
        name: the function's name.
        call: the user's function.
        argument: the name of its argument for the message.
        queue: the queue's name, or the path of the topic's subscription.
        many: True if it gets batches.
        binary: True if its data is binary.
        sessions: True if the queue has sessions.
        completes: True if the host completes what it has handled.
        context: True if it wants the invocation's context.
        recoverability: the ladder of the endpoint that it is, if it is one.
        others: its bindings beside the trigger.
    """

    name: str
    call: Callable[..., Any]
    argument: str
    queue: str
    many: bool
    binary: bool
    sessions: bool
    completes: bool
    context: bool
    recoverability: Recoverability | None
    others: tuple[str, ...]


def functions_of(app: App, queue: str) -> list[TriggeredFunction]:
    """Return the functions that the queue triggers.

    Args:
        app: your `function_app.app`, a blueprint, or an endpoint.
        queue: the queue's name.

    Raises:
        LookupError: a queue that no function reads.
        TypeError: not an app, a blueprint or a `ServiceBusEndpoint`.
    """
    found = [parse_trigger(each) for each in indexed(app) if is_triggered(each)]
    if served := [each for each in found if each.queue.lower() == queue.lower()]:
        return [without_other_bindings(each) for each in served]
    known = ", ".join(sorted({each.queue for each in found})) or "no queue at all"
    raise LookupError(f"no function of this app reads {queue!r}, but {known}; add a trigger for it")


def without_other_bindings(function: TriggeredFunction) -> TriggeredFunction:
    """Return the function, if the world runs all of its bindings.

    Raises:
        ValueError: it has a binding beside its trigger.
    """
    if function.others:
        raise ValueError(
            f"{function.name!r} has a binding beside its trigger, {', '.join(function.others)}, which is not served here; "
            "send with the SDK in the handler, or test it with recoverable_local.functions_host, which serves Service Bus outputs"
        )
    return function


def indexed(app: App) -> list[Function]:
    """Return all functions of an app.

    Raises:
        TypeError: not an app, a blueprint or a `ServiceBusEndpoint`.
    """
    if not isinstance(app, FunctionApp | Blueprint | ServiceBusEndpoint):
        raise TypeError(f"serve(app) is {app!r}; write your function_app.app, a blueprint, or a ServiceBusEndpoint")
    if isinstance(app, ServiceBusEndpoint):
        app = app.blueprint()
    if isinstance(app, Blueprint):
        whole = FunctionApp()
        whole.register_functions(app)
        return whole.get_functions()
    app.functions_bindings = {}  # it keeps the names of its functions, and takes no name twice
    return app.get_functions()


def is_triggered(function: Function) -> bool:
    """True if messages of a queue or a subscription trigger the function."""
    trigger = function.get_trigger()
    return trigger is not None and trigger.type == TRIGGER


def parse_trigger(function: Function) -> TriggeredFunction:
    """Return a function with what its trigger declares."""
    trigger: Any = function.get_trigger()
    declared, call = trigger.get_dict_repr(), function.get_user_function()
    return TriggeredFunction(
        name=function.get_function_name() or call.__name__,
        call=call,
        argument=trigger.name,
        queue=path_of(declared),
        many=declared.get("cardinality") in (Cardinality.MANY, "many"),
        binary=declared.get("dataType") == DataType.BINARY,
        sessions=bool(declared.get("isSessionsEnabled")),
        completes=declared.get("autoCompleteMessages") is not False,
        context="context" in inspect.signature(call).parameters,
        recoverability=getattr(call, "recoverability", None),
        others=tuple(f"{each.name!r} ({each.type})" for each in function.get_bindings() if each is not trigger),
    )


def path_of(declared: Mapping[str, Any]) -> str:
    """Return the name of the queue, or the path of the subscription, that a trigger declares."""
    if "queueName" in declared:
        return resolved(declared["queueName"], os.environ)
    topic, subscription = (
        resolved(declared["topicName"], os.environ),
        resolved(declared["subscriptionName"], os.environ),
    )
    return subscription_path(topic, subscription)
