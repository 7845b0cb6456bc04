"""Read a Function App without running it: its settings, its `host.json`, and which functions of its code read which queues."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeGuard

from recoverable._service_bus.app_settings import resolved
from recoverable._service_bus.host_json import CALLS_PER_CORE, HostOptions, read_host_json, values_of
from recoverable_operate.rules._endpoint import Endpoint
from recoverable_operate.rules._ladder import PREFIX
from recoverable_operate.rules._on_service_bus import Bundle, Trigger, Workload, worker_threads
from recoverable_operate.rules._rule import Unknown
from recoverable_operate.templates._document import TemplateError
from recoverable_operate.templates._endpoints import SERVICE_BUS_ENDPOINT, calls_in, described, reachable
from recoverable_operate.templates._expressions import STAMP, Made, Reader, Reference, Scope, Value
from recoverable_operate.templates._host_file import bundle_of, read_host
from recoverable_operate.templates._sources import imports_package, sources_at

SCRIPT = "function_app.py"

DECORATOR, BLUEPRINT = "service_bus_queue_trigger", "blueprint"

Settings = Mapping[str, str | Unknown] | Unknown

NO_HOST = Unknown("there is no host.json beside the file or above it; --app FOLDER says where the app is")


@dataclass(frozen=True, slots=True)
class QueueReader:
    """A function that reads a queue.

    Args:
        queue: the queue's name.
        trigger: its trigger.
        endpoint: the endpoint that it is; None for a trigger that is written in the code.
    """

    queue: str | Unknown
    trigger: Trigger
    endpoint: Endpoint | None = None


@dataclass(frozen=True, slots=True)
class App:
    """The app that a file deploys.

    Args:
        settings: its settings.
        host: the options of its host.json.
        bundle: the extension bundle of that; None where it has none.
        values: what it says, and settings in its place, by paths in small letters.
        readers: the functions of its code that read queues.
        unbound: the endpoints in its code that one of its triggers may call.
        stamped: the queues whose messages its code stamps, and where it sends them.
        uses: True if it uses this package.
    """

    settings: Settings
    host: HostOptions | Unknown = NO_HOST
    bundle: Bundle | Unknown | None = NO_HOST
    values: Mapping[str, Any] | Unknown = NO_HOST
    readers: tuple[QueueReader, ...] | Unknown = NO_HOST
    unbound: tuple[Endpoint, ...] = ()
    stamped: Mapping[str, str | Unknown] = field(default_factory=dict)
    uses: bool | Unknown = NO_HOST

    @property
    def known_settings(self) -> Mapping[str, str]:
        """Return those settings whose values are known."""
        said = {} if isinstance(self.settings, Unknown) else self.settings
        return {name: each for name, each in said.items() if isinstance(each, str)}


def app_of(folder: Path | Unknown, settings: Settings) -> App:
    """Return the app in a folder."""
    app = App(settings)
    if isinstance(folder, Unknown):
        app = replace(app, host=folder, bundle=folder, values=folder, readers=folder, uses=folder)
    else:
        app = with_code(with_host(app, folder / "host.json"), folder)
    said = {} if isinstance(settings, Unknown) else settings
    return replace(app, uses=True) if any(name.startswith(PREFIX) for name in said) else app


def with_host(app: App, file: Path) -> App:
    """Return the app with what its `host.json` says."""
    document = read_host_json(file, app.known_settings).document
    if document is None:
        raise TemplateError(f"{file} is no JSON, or no object; the host does not start with it")
    bundle = bundle_of(document, app.known_settings)
    return replace(
        app, host=read_host(file, app.known_settings), bundle=bundle, values=values_of(document, app.known_settings)
    )


def with_code(app: App, folder: Path) -> App:
    """Return the app with what its code says: `function_app.py`, and the files that it imports."""
    here = folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
    sources = sources_at(here, ignored_folders(folder))
    if isinstance(sources, Unknown) or SCRIPT not in sources.texts:
        missing = sources if isinstance(sources, Unknown) else Unknown(f"there is no {SCRIPT} beside host.json")
        return replace(app, readers=missing, uses=missing)
    reader = Reader(sources, app.settings)
    read = list(reachable(reader, SCRIPT))
    scopes = [each for each in read if isinstance(each, Scope)]
    if not any(endpoints_of(reader, scopes)):  # routes may be loaded by the names of their files
        known = {each.path for each in scopes}
        others = ((path, tree) for path, tree in sources.trees.items() if path not in known)
        scopes += [Scope(sources.name, path, tree) for path, tree in others if not isinstance(tree, Unknown)]
    endpoints = [resolve_queue(each, app) for each in endpoints_of(reader, scopes)]
    written = list(decorated(reader, scopes, app))
    taken = {each.queue.lower() for each in written if isinstance(each.queue, str)}
    bound = [each for each in endpoints if each.bound or str(each.queue).lower() not in taken]
    readers = (*written, *map(as_reader, bound))
    unread = next((each for each in read if isinstance(each, Unknown)), None)
    uses = bool(endpoints) or any(imports_package(node) for scope in scopes for node in ast.walk(scope.tree))
    return replace(
        app,
        readers=readers if unread is None else unread,
        unbound=tuple(each for each in endpoints if each not in bound),
        stamped=dict(stamped_by(reader, scopes)),
        uses=uses or (False if unread is None else unread),
    )


def stamped_by(reader: Reader, scopes: list[Scope]) -> Iterator[tuple[str, str | Unknown]]:
    """Yield the queues whose messages an app's code stamps, as far as their names are known, and where it sends them."""
    for call, scope in (each for file in scopes for each in calls_in(file)):
        of = reader.value(call.func.value, scope) if isinstance(call.func, ast.Attribute) else None
        if isinstance(of, Made) and of.name == STAMP and called_name(call) == BLUEPRINT:
            names = [reader.value(each.value, scope) for each in call.keywords if each.arg == "queue"]
            yield from (
                (name.lower(), described(of, reader.variables).error_queue or "")
                for name in names
                if isinstance(name, str)
            )


def ignored_folders(folder: Path) -> tuple[str, ...]:
    """Return the folders at the top that are not published, as `.funcignore` names them plainly."""
    try:
        lines = (folder / ".funcignore").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ()
    return tuple(line.strip().strip("/") for line in lines)


def endpoints_of(reader: Reader, scopes: list[Scope]) -> Iterator[Endpoint]:
    """Yield the endpoints that an app's code makes."""
    made: dict[str, Made] = {}
    bound: set[str] = set()
    for call, scope in (each for file in scopes for each in calls_in(file)):
        found = reader.value(call, scope)
        if isinstance(found, Made) and found.name == SERVICE_BUS_ENDPOINT:
            made[found.where] = found
        elif called_name(call) == SERVICE_BUS_ENDPOINT.rpartition(".")[2]:
            yield Endpoint(scope.at(call), queue=scope.computed(call))
        elif isinstance(call.func, ast.Attribute) and called_name(call) == BLUEPRINT:
            of = reader.value(call.func.value, scope)
            bound |= {of.where} if isinstance(of, Made) else set()
    for where, each in made.items():
        yield replace(described(each, reader.variables), bound=where in bound)


def called_name(call: ast.Call) -> str:
    """Return the last part of the name that is called."""
    return str(getattr(call.func, "attr", None) or getattr(call.func, "id", ""))


def as_reader(endpoint: Endpoint) -> QueueReader:
    """Return an endpoint as the function that its blueprint makes."""
    name = endpoint.queue if isinstance(endpoint.queue, str) else endpoint.where
    return QueueReader(endpoint.queue, Trigger(name, binary=True, completes=True, many=endpoint.batch), endpoint)


def decorated(reader: Reader, scopes: list[Scope], app: App) -> Iterator[QueueReader]:
    """Yield the functions that have a trigger of their own."""
    for scope in scopes:
        for node in ast.walk(scope.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for call in filter(is_trigger, node.decorator_list):
                    said = {each.arg: reader.value(each.value, scope) for each in call.keywords if each.arg}
                    yield QueueReader(named_queue(said.get("queue_name"), app), trigger_of(node.name, said))


def is_trigger(node: ast.expr) -> TypeGuard[ast.Call]:
    """True if a decorator is the trigger of a Service Bus queue."""
    return isinstance(node, ast.Call) and DECORATOR in (
        getattr(node.func, "attr", None),
        getattr(node.func, "id", None),
    )


def trigger_of(function: str, said: Mapping[str, Value]) -> Trigger:
    """Return the trigger that a decorator makes."""
    completes = said.get("auto_complete_messages")
    return Trigger(
        function,
        binary=is_word(said.get("data_type"), "binary"),
        completes=completes if isinstance(completes, bool | Unknown) else None,
        many=is_word(said.get("cardinality"), "many"),
    )


def is_word(value: Value, word: str) -> bool | Unknown:
    """Return True if a text says a word, or a name ends with it, such as `func.DataType.BINARY`."""
    if isinstance(value, Unknown):
        return value
    return (value.name.rpartition(".")[2] if isinstance(value, Reference) else str(value)).lower() == word


def named_queue(value: Value, app: App) -> str | Unknown:
    """Return the name of a queue; Unknown if it is computed, or names an app setting that is not known."""
    if not isinstance(value, str):
        return (
            value
            if isinstance(value, Unknown)
            else Unknown(f"{SCRIPT} has a trigger whose queue is computed when it runs")
        )
    if isinstance(app.settings, Unknown) and "%" in value:
        return app.settings
    try:
        return resolved(value, app.known_settings)
    except ValueError as error:
        return Unknown(str(error).partition(";")[0])


def resolve_queue(endpoint: Endpoint, app: App) -> Endpoint:
    """Return the endpoint with the settings that its queue's name stands for."""
    return replace(endpoint, queue=named_queue(endpoint.queue, app), named=endpoint.queue)


def workload(app: App) -> Workload | Unknown:
    """Return how many messages run at a time on an instance of one core, in plain functions."""
    if isinstance(app.host, Unknown):
        return app.host
    if isinstance(app.settings, Unknown):
        return app.settings
    return Workload(app.host.max_concurrent_calls or CALLS_PER_CORE, worker_threads(app.known_settings, cores=1))
