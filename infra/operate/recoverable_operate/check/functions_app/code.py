"""Read from `function_app.py`, without running it, which triggers read a queue: those that are written with literal values."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from recoverable._service_bus.app_settings import resolved
from recoverable_operate.check.known import Unknown
from recoverable_operate.check.service_bus import Trigger

SCRIPT = "function_app.py"
DECORATOR, ENDPOINT = "service_bus_queue_trigger", "ServiceBusEndpoint"


def trigger_on(queue: str, folder: Path, settings: Mapping[str, str]) -> Trigger | Unknown:
    """Return the trigger that reads a queue.

    Args:
        queue: the queue's name.
        folder: the app's folder.
        settings: the app settings, for names such as `%QUEUE%`.
    """
    elsewhere = Unknown(
        f"{SCRIPT} does not say in plain words which function reads {queue}; `recoverable local azure` loads the code"
    )
    try:
        module = ast.parse((folder / SCRIPT).read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):
        return elsewhere
    found = [trigger for name, trigger in triggers_in(module, settings) if name.lower() == queue.lower()]
    if not found:
        return elsewhere
    first, *others = found
    return Trigger(first.function, first.binary, first.completes, first.many, tuple(each.function for each in others))


def triggers_in(module: ast.Module, settings: Mapping[str, str]) -> Iterator[tuple[str, Trigger]]:
    """Yield the triggers of a module with the names of their queues; those of blueprints only where no function has one of its own."""
    written = list(decorated(module, settings))
    yield from written
    queues = {name for name, _ in written}
    yield from ((name, trigger) for name, trigger in endpoints(module, settings) if name not in queues)


def decorated(module: ast.Module, settings: Mapping[str, str]) -> Iterator[tuple[str, Trigger]]:
    """Yield the triggers that are written as decorators of functions."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for call in (each for each in node.decorator_list if called(each, DECORATOR)):
                said = keywords(call)
                if name := queue_name(said.get("queue_name"), settings):
                    many = word(said.get("cardinality")) == "many"
                    completes = literal(said.get("auto_complete_messages"))
                    binary = word(said.get("data_type")) == "binary"
                    yield name, Trigger(node.name, binary, completes if isinstance(completes, bool) else None, many)


def endpoints(module: ast.Module, settings: Mapping[str, str]) -> Iterator[tuple[str, Trigger]]:
    """Yield the triggers that the blueprints of endpoints make."""
    for node in ast.walk(module):
        if called(node, ENDPOINT):
            said = keywords(node)
            if name := queue_name(said.get("queue"), settings):
                yield name, Trigger(name, binary=True, completes=True, many=literal(said.get("batch")) is True)


def called(node: ast.AST, name: str) -> bool:
    """True if a node calls a function, or a method, of this name."""
    return isinstance(node, ast.Call) and name in (getattr(node.func, "attr", None), getattr(node.func, "id", None))


def keywords(node: ast.AST) -> dict[str, ast.expr]:
    """Return the arguments of a call that are given by name."""
    given = node.keywords if isinstance(node, ast.Call) else []
    return {each.arg: each.value for each in given if each.arg}


def literal(node: ast.expr | None) -> object:
    """Return the value of a literal; None for any other expression."""
    return node.value if isinstance(node, ast.Constant) else None


def word(node: ast.expr | None) -> str:
    """Return in lower case what a text or the name of an attribute says, such as `BINARY` of `func.DataType.BINARY`."""
    return node.attr.lower() if isinstance(node, ast.Attribute) else str(literal(node)).lower()


def queue_name(node: ast.expr | None, settings: Mapping[str, str]) -> str | None:
    """Return the name of a queue; None if it is no literal, or names an app setting that is not known."""
    found = literal(node)
    try:
        return resolved(found, settings) if isinstance(found, str) else None
    except ValueError:
        return None
