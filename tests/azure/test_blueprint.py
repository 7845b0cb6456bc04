"""The blueprint: a function for the Functions host whose trigger has what must be right."""

from __future__ import annotations

import asyncio
import inspect
import json
import typing
from types import SimpleNamespace
from typing import Any

import azure.functions as func
import pytest
from azure.functions.decorators.function_app import Function

from azure.endpoints import Handler, ended, endpoint
from azure.triggers import trigger_message, trigger_messages
from builders import QUEUE, Boom
from recoverable import Message
from recoverable.azure import ServiceBusEndpoint


async def place_order(message: Message) -> None:
    """Place an order."""
    raise Boom(message.id)


def function_of(called: ServiceBusEndpoint[Any]) -> Function:
    """Return the one function of an app with the endpoint's blueprint."""
    app = func.FunctionApp()
    app.register_functions(called.blueprint())
    [function] = app.get_functions()
    return function


def bindings(called: ServiceBusEndpoint[Any]) -> Any:
    """Return the bindings as the worker reports them to the host."""
    return json.loads(function_of(called).get_function_json())["bindings"]


RIGHT = {
    "type": "serviceBusTrigger", "direction": "IN", "name": "message", "dataType": "BINARY", "connection": "ServiceBus",
    "queueName": QUEUE, "autoCompleteMessages": True,
}  # fmt: skip

TRIGGERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "one message": ({}, {"cardinality": "ONE", "isSessionsEnabled": False}),
    "many messages": ({"batch": True}, {"cardinality": "MANY", "isSessionsEnabled": False}),
    "sessions": ({"sessions": True}, {"cardinality": "ONE", "isSessionsEnabled": True}),
}


@pytest.mark.parametrize(("parts", "different"), TRIGGERS.values(), ids=TRIGGERS)
def test_the_trigger_has_what_must_be_right(parts: dict[str, Any], different: dict[str, Any]) -> None:
    [binding] = bindings(endpoint(**parts))

    assert binding == {**RIGHT, **different}


def test_a_setting_in_the_queues_name_is_resolved_for_us_and_for_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDERS_QUEUE", "orders-1")
    called = endpoint(queue="%ORDERS_QUEUE%")

    assert (called.queue, bindings(called)[0]["queueName"]) == ("orders-1", "orders-1")


@pytest.mark.parametrize(("name", "expected"), [(None, "place_order"), ("orders", "orders")])
def test_the_function_has_a_name(name: str | None, expected: str) -> None:
    assert function_of(endpoint(place_order, name=name)).get_function_name() == expected


def test_two_endpoints_of_one_app_have_two_names() -> None:
    app = func.FunctionApp()
    for name in ("orders", "invoices"):
        app.register_functions(endpoint(queue=name, name=name).blueprint())

    assert [function.get_function_name() for function in app.get_functions()] == ["orders", "invoices"]


@pytest.mark.parametrize(("handler", "is_coroutine"), [(Handler(), False), (place_order, True)])
def test_the_worker_can_index_the_function(handler: Any, is_coroutine: bool) -> None:  # noqa: FBT001  # the table's column
    function = function_of(endpoint(handler)).get_user_function()

    assert list(inspect.signature(function).parameters) == ["message", "context"]
    assert typing.get_type_hints(function) == {}  # the worker then takes whatever the trigger delivers
    assert inspect.iscoroutinefunction(function) == is_coroutine


def test_the_host_gets_the_handlers_exception() -> None:
    function = function_of(endpoint(place_order)).get_user_function()

    with pytest.raises(Boom, match=r"^m-1$"):
        asyncio.run(function(message=trigger_message()))


def test_the_host_gets_nothing_back() -> None:
    handler = Handler()
    function = function_of(endpoint(handler, batch=True)).get_user_function()

    assert function(message=trigger_messages({}, {})) is None
    assert [message.id for message in handler.handled] == ["m-1", "m-2"]


def test_a_trigger_of_ones_own_that_delivers_text_is_warned_about() -> None:
    handler = Handler()

    with pytest.raises(TypeError, match=r"^the trigger delivers text, "):
        endpoint(handler)(trigger_message(text=True))
    assert handler.handled == []


def test_an_endpoint_has_the_name_of_its_handler() -> None:
    called = endpoint(place_order, name=None)

    assert (called.__name__, called.__doc__) == ("place_order", "Place an order.")


WRONG: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "no queue": ({"queue": ""}, ValueError, r"^ServiceBusEndpoint\(queue\) is blank; write the name of a queue"),
    "a queue that is no text": ({"queue": 7}, TypeError, r"^ServiceBusEndpoint\(queue\) is 7; write the name"),
    "no connection": ({"connection": " "}, ValueError, r"^ServiceBusEndpoint\(connection\) is blank; write the name of the app setting"),
    "a connection string": (
        {"connection": "Endpoint=sb://shop;SharedAccessKey=secret"},
        ValueError,
        r"^ServiceBusEndpoint\(connection\) is a connection string, which is not shown here; write the name of the app setting that holds the connection$",
    ),
    "a handler of Lambda's": ({"handler": lambda event, context: None}, TypeError, r"takes \(event, context\); write"),
    "no handler": ({"handler": "orders"}, TypeError, r"^the handler is 'orders'; write a function"),
    "no ladder": ({"settings": 5}, TypeError, r"^ServiceBusEndpoint\(recoverability\) is 5; write Recov"),
    "a name with a blank": ({"name": "my orders"}, ValueError, r"^the function would be called 'my orders'; pass"),
}  # fmt: skip


@pytest.mark.parametrize(("parts", "kind", "text"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_refused_and_says_what_to_write(
    parts: dict[str, Any], kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text):
        endpoint(**parts).blueprint()


async def watch(message: Message) -> None:
    """Note the message in the context that it came with."""
    message.context.messages.append(message.id)


@pytest.mark.parametrize(
    "handler", [lambda message: message.context.messages.append(message.id), watch], ids=["plain", "coroutine"]
)
def test_a_handler_reaches_the_context_that_the_host_passes_to_the_function(handler: Any) -> None:
    context = SimpleNamespace(messages=[])
    function = function_of(endpoint(handler)).get_user_function()

    if (running := function(message=trigger_message(), context=context)) is not None:
        asyncio.run(running)

    assert context.messages == ["m-1"]


@pytest.mark.parametrize("context", [SimpleNamespace(invocation_id="i-1"), None], ids=["given", "not given"])
def test_a_handler_reaches_the_context_that_your_own_trigger_passes_on(context: Any) -> None:
    handler = Handler()

    assert ended(endpoint(handler), trigger_message(), context) is None
    assert [message.context for message in handler.handled] == [context]
