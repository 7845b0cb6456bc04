"""Define a Function App that records what its functions are given and does what their messages say, in a worker or in a world."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, List  # noqa: UP035  # as below

import azure.functions as func

PATIENCE = 90  # seconds; nobody waits longer for others
A_WHILE = 0.2  # seconds in which one too many would begin

REMEMBERED: list[str] = []
"""The first message of each invocation that this module has seen."""

app = func.FunctionApp()


class Unusual(BaseException):
    """An exception that is no `Exception`."""


@dataclass
class Ways:
    """Functions that differ between a worker and a world.

    Args:
        notes: the file of notes.
        die: ends the process.
        spend: takes so many seconds.
        process: names the process.
        meet: stays until so many are at work, and for a while.
    """

    notes: Path
    die: Callable[[], object]
    spend: Callable[[float], object]
    process: Callable[[], object]
    meet: Callable[[int], object]


def note(**said: Any) -> None:
    """Write a whole line."""
    with HERE.notes.open("a") as file:
        file.write(json.dumps(said, default=repr) + "\n")


def meet(count: int) -> None:
    """Wait until so many invocations have begun."""
    end = time.monotonic() + PATIENCE
    while HERE.notes.read_text().count('"began"') < count and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(A_WHILE)


HERE = Ways(
    notes=Path(os.environ.get("NOTES", os.devnull)),
    die=lambda: os._exit(4),
    spend=time.sleep,
    process=os.getpid,
    meet=meet,
)


def trigger(queue: str, **options: Any) -> Callable[[Any], Any]:
    """Return a trigger on a queue that also names its function."""
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
    """Follow the script of each message on its first delivery; handle later deliveries without one."""
    REMEMBERED.append(messages[0].message_id)
    shown = [describe_message(message) for message in messages]
    note(given={"messages": shown, "process": HERE.process(), "remembers": len(REMEMBERED)})
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
    """Return the script of a message; empty if its body is none."""
    try:
        script = json.loads(message.get_body())
    except ValueError:
        return {}
    return script if isinstance(script, dict) else {}


def describe_message(message: func.ServiceBusMessage) -> dict[str, Any]:
    """Return all that the message has, with its body as text; bytes that are no text are escaped."""
    names = [name for name in dir(type(message)) if isinstance(getattr(type(message), name), property)]
    body = message.get_body().decode(errors="backslashreplace")
    return {"body": body} | {name: getattr(message, name) for name in names if name not in OMITTED}


def describe_context(context: Any) -> dict[str, Any]:
    """Return what the context has."""
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
"""Names without a value in the SDK, and names that repeat others."""


def refuse(_script: object) -> None:
    raise ValueError("no such card")


def refuse_unusually(_script: object) -> None:
    raise Unusual("no such card")


def work(script: dict[str, Any]) -> None:
    note(work="began")
    HERE.meet(script["together"])
    note(work="ended")


def kill_others(script: dict[str, Any]) -> None:
    note(work="began")
    HERE.meet(script["together"])
    HERE.die()


def be_killed(_script: object) -> None:
    note(work="began")
    HERE.spend(300)


DEEDS: dict[str, Callable[[dict[str, Any]], object]] = {
    "raise": refuse,
    "raise unusually": refuse_unusually,
    "exit": lambda script: sys.exit(script["status"]),
    "die": lambda _: HERE.die(),
    "spend": lambda script: HERE.spend(script["seconds"]),
    "work": work,
    "kill others": kill_others,
    "be killed": be_killed,
}
