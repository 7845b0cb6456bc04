"""Find the endpoints of this package that a function's code makes, and read what it says of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, TypeVar

from recoverable import Delayed, Exponential, Immediate, Recoverability
from recoverable._variables import Variables, read_parts
from recoverable_operate.rules._endpoint import Endpoint
from recoverable_operate.rules._ladder import PREFIX, Ladder
from recoverable_operate.rules._rule import Unknown
from recoverable_operate.templates._expressions import (
    FROM_ENVIRONMENT,
    MOST_FILES_DEEP,
    PROCESSOR,
    STAMP,
    Made,
    Reader,
    Scope,
    Value,
    absolute,
)

T = TypeVar("T")

SQS_ENDPOINTS = ("recoverable.aws.SqsEndpoint", PROCESSOR, STAMP)
SERVICE_BUS_ENDPOINT = "recoverable.azure.ServiceBusEndpoint"

SETTINGS: Mapping[str, type[Immediate] | type[Delayed] | type[Exponential]] = {
    "recoverable.Immediate": Immediate,
    "recoverable.Delayed": Delayed,
    "recoverable.Exponential": Exponential,
}
"""Settings that are made here as the code makes them, so that each is checked by its own class."""


def reachable(reader: Reader, start: str) -> Iterator[Scope | Unknown]:
    """Yield the file, and those of the function's own that it imports, each once; Unknown for one that cannot be read."""
    seen = {start: 0}
    waiting = [start]
    while waiting:
        path = waiting.pop(0)
        tree = reader.sources.trees[path]
        if isinstance(tree, Unknown):
            yield tree
            continue
        yield Scope(reader.sources.name, path, tree)
        for node in ast.walk(tree) if seen[path] < MOST_FILES_DEEP else ():
            for module in imported_modules(node, path):
                found = reader.sources.file_of(module)
                if found is not None and found not in seen:
                    seen[found] = seen[path] + 1
                    waiting.append(found)


def imported_modules(node: ast.AST, path: str) -> Iterator[str]:
    """Yield the modules that a statement imports, and those that it may."""
    match node:
        case ast.Import(names=names):
            yield from (each.name for each in names)
        case ast.ImportFrom(names=names):
            module = absolute(node, path)
            yield from (module, *(f"{module}.{each.name}" for each in names))
        case _:
            pass


def calls_in(scope: Scope) -> Iterator[tuple[ast.Call, Scope]]:
    """Yield each call of a file with the scope in which it stands."""
    waiting: list[tuple[ast.AST, Scope]] = [(scope.tree, scope)]
    while waiting:
        node, here = waiting.pop()
        for child in ast.iter_child_nodes(node):
            inner = (
                Scope(scope.root, scope.path, child, here)
                if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
                else here
            )
            if isinstance(child, ast.Call):
                yield child, here
            waiting.append((child, inner))


def described(made: Made, variables: Mapping[str, str | Unknown] | Unknown) -> Endpoint:
    """Return what the code says of an endpoint.

    Args:
        made: its call.
        variables: the environment variables, for `from_environment`.
    """

    def given(name: str, kind: type[T] | tuple[type[T], ...], default: Any) -> Any:
        return plain(made.arguments.get(name, default), kind, made.where, default)

    if made.name == STAMP:
        no_retries = Ladder(Immediate(0), Delayed(0), said=True)
        to = given("to", str, Unknown(f"{made.where} names no error queue"))
        return Endpoint(made.where, no_retries, error_queue=to, stamps=True)
    settings = made.arguments.get("recoverability", Made("recoverable.Recoverability", {}, made.where))
    immediate, delayed = (part_of(settings, name, variables) for name in ("immediate", "delayed"))
    sessions = given("sessions", (bool, str), default=False)
    unclear = next((each for each in (immediate, delayed, sessions) if isinstance(each, Unknown)), None)
    return Endpoint(
        where=made.where,
        ladder=unclear or Ladder(immediate, delayed, said=True, ordered=sessions == "ordered", where=line_of(settings)),
        error_queue=error_queue_of(settings),
        handler_timeout=given("handler_timeout", timedelta, None),
        partial_responses=given("partial_responses", bool, default=True),
        queue=given("queue", str, Unknown(f"{made.where} names no queue")),
        connection=given("connection", str, Unknown(f"{made.where} names no connection")),
        sessions=sessions,
        batch=given("batch", bool, default=False),
        lock=given("lock", timedelta, None),
    )


def line_of(settings: Value) -> str:
    """Return where the code makes a ladder: the line of its immediate retries, else that of its settings; empty where it does not."""
    if not isinstance(settings, Made) or not settings.arguments or settings.name == FROM_ENVIRONMENT:
        return ""
    immediate = settings.arguments.get("immediate")
    return immediate.where if isinstance(immediate, Made) else settings.where


def plain(value: Value, kind: Any, where: str, default: Any) -> Any:
    """Return a value of a kind; Unknown for anything else."""
    if isinstance(value, Unknown) or value is default or isinstance(value, kind):
        return value
    return Unknown(f"{where} has a value that is computed when it runs")


def part_of(settings: Value, name: str, variables: Mapping[str, str | Unknown] | Unknown) -> Any:
    """Return the immediate or the delayed retries of a `Recoverability`."""
    match settings:
        case Unknown():
            return settings
        case Made(arguments=arguments, where=where) if name in arguments:
            found = setting(arguments[name], where)
            is_right = isinstance(found, Unknown | type(getattr(Recoverability(), name)))
            return found if is_right else Unknown(f"{where}: {name} is {found!r}")
        case Made(name="recoverable.Recoverability"):
            return getattr(Recoverability(), name)
        case Made(name=called, arguments=arguments) if called == FROM_ENVIRONMENT:
            return from_environment(arguments.get("prefix", PREFIX), variables, name)
        case _:
            return Unknown("the code's Recoverability is computed when it runs")


def from_environment(prefix: Value, variables: Mapping[str, str | Unknown] | Unknown, name: str) -> Any:
    """Return the part that environment variables set, else its default."""
    if not isinstance(prefix, str):
        return Unknown("the prefix of from_environment is computed when it runs")
    if isinstance(variables, Unknown):
        return variables
    ours = {
        key: value for key, value in variables.items() if key.startswith(prefix) and not key.endswith("ERROR_QUEUE")
    }
    for value in ours.values():
        if isinstance(value, Unknown):
            return value
    try:
        return read_parts(Recoverability(), Variables(prefix, {key: str(value) for key, value in ours.items()}))[name]
    except ValueError as error:
        return Unknown(str(error))


def setting(value: Value, where: str) -> Any:
    """Return settings as the code makes them; Unknown if an argument is not known, or is refused."""
    if not isinstance(value, Made) or value.name not in SETTINGS:
        return value if isinstance(value, Unknown) else Unknown(f"{where} has a part that is computed when it runs")
    arguments = {
        name: setting(each, value.where) if isinstance(each, Made) else each for name, each in value.arguments.items()
    }
    for each in arguments.values():
        if isinstance(each, Unknown):
            return each
    try:
        return SETTINGS[value.name](**arguments)
    except (TypeError, ValueError) as error:
        return Unknown(f"{value.where}: {error}")


def error_queue_of(settings: Value) -> str | Unknown | None:
    """Return the error queue of a `Recoverability`; None where it names none."""
    if not isinstance(settings, Made):
        return (
            settings if isinstance(settings, Unknown) else Unknown("the code's Recoverability is computed when it runs")
        )
    match settings.arguments.get("failed"):
        case None:
            return None
        case Made(arguments=arguments, where=where):
            named: str | Unknown | None = plain(arguments.get("error_queue"), str, where, None)
            return named
        case Unknown() as unknown:
            return unknown
        case _:
            return Unknown(f"{settings.where} has an error queue that is computed when it runs")
