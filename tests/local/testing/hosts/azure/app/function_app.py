"""A Function App that notes what its functions are given and does what their messages say, in a worker or in a world."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, List  # noqa: UP035  # as below

import azure.functions as func

from local.testing.hosts import script as shared
from local.testing.hosts.script import note

REMEMBERED: list[str] = []
"""The first message of each invocation that this module has seen."""

app = func.FunctionApp()


def trigger(queue: str, **options: Any) -> Callable[[Any], Any]:
    """Return a trigger on a queue, which names its function as well."""
    declared: Any = {"data_type": func.DataType.BINARY, **options}

    def declare(function: Any) -> Any:
        found = app.service_bus_queue_trigger(arg_name="message", queue_name=queue, connection="ServiceBus", **declared)
        return app.function_name(queue)(found(function))

    return declare


@trigger("plain")
def plain(message: func.ServiceBusMessage, context: func.Context) -> Any:
    note(context=describe_context(context))
    return handled([message])


@trigger("coroutine")
async def coroutine(message: func.ServiceBusMessage) -> Any:
    return handled([message])


@trigger("left", auto_complete_messages=False)
def left(message: func.ServiceBusMessage) -> Any:
    return handled([message])


@trigger("brief")
def brief(message: func.ServiceBusMessage) -> Any:
    return handled([message])


@trigger("text", data_type=func.DataType.STRING)
def text(message: func.ServiceBusMessage) -> Any:
    return handled([message])


@trigger("undeclared", data_type=func.DataType.UNDEFINED)
def undeclared(message: func.ServiceBusMessage) -> Any:
    return handled([message])


@trigger("many", cardinality=func.Cardinality.MANY)
def many(message: List[func.ServiceBusMessage]) -> Any:  # noqa: UP006  # the worker takes no other list
    return handled(message)


@trigger("texts", cardinality=func.Cardinality.MANY, data_type=func.DataType.STRING)
def texts(message: List[func.ServiceBusMessage]) -> Any:  # noqa: UP006  # the worker takes no other list
    return handled(message)


@trigger("session", is_sessions_enabled=True)
def session(message: func.ServiceBusMessage) -> Any:
    return handled([message])


def handled(messages: list[func.ServiceBusMessage]) -> Any:
    """Follow the script of each message on its first delivery; later ones are simply handled."""
    REMEMBERED.append(messages[0].message_id)
    shown = [describe_message(message) for message in messages]
    note(given={"messages": shown, "process": shared.HERE.process(None), "remembers": len(REMEMBERED)})
    for message in messages:
        script = script_of(message)
        if (message.delivery_count or 0) <= script.get("times", 1):
            match script.get("does"):
                case "return":
                    return script["answer"]
                case str(deed):
                    DEEDS[deed](script)
                case _:
                    pass  # it is simply handled
    return None


def script_of(message: func.ServiceBusMessage) -> dict[str, Any]:
    """Return what the message asks for: nothing, if its body is no script."""
    try:
        script = json.loads(message.get_body())
    except ValueError:
        return {}
    return script if isinstance(script, dict) else {}


def describe_message(message: func.ServiceBusMessage) -> dict[str, Any]:
    """Return all properties of a message, and its body as text with bytes that are no text escaped."""
    names = [name for name in dir(type(message)) if isinstance(getattr(type(message), name), property)]
    body = message.get_body().decode(errors="backslashreplace")
    return {"body": body} | {name: getattr(message, name) for name in names if name not in OMITTED}


def describe_context(context: Any) -> dict[str, Any]:
    """Return what the context says."""
    trace, retry = context.trace_context, context.retry_context
    return {
        "names": [name for name in dir(context) if not name.startswith("_")],
        "function": context.function_name,
        "is in its directory": Path(context.function_directory, "function_app.py").exists(),
        "invocation": context.invocation_id,
        "thread's": context.thread_local_storage.invocation_id,
        "trace": [trace.trace_parent, trace.Traceparent, trace.trace_state, trace.attributes],
        "retries": [retry.retry_count, retry.max_retry_count],
    }


OMITTED = ("force_persistence", "metadata")
"""What the SDK has no value for, and what repeats the rest."""


def kill_others(script: dict[str, Any]) -> None:
    note(work="began")
    shared.HERE.meet(script["together"])
    shared.HERE.die()


def be_killed(_script: object) -> None:
    note(work="began")
    shared.HERE.spend(300)


DEEDS: dict[str, Callable[[dict[str, Any]], object]] = {
    **shared.DEEDS,
    "exit": lambda script: sys.exit(script["status"]),
    "kill others": kill_others,
    "be killed": be_killed,
}
