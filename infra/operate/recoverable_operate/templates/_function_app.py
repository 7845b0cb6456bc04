"""Read a Function App without running it: its settings, what the host refuses in its `host.json`, and the triggers that are written with literal values."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recoverable._service_bus.app_settings import resolved
from recoverable._service_bus.host_json import CALLS_PER_CORE, HostOptions, read_host_json, values_of
from recoverable_operate.rules._on_service_bus import Trigger, Workload, worker_threads
from recoverable_operate.rules._rule import Unknown

MINIMAL_HOST_JSON = '{"version": "2.0", "extensionBundle": {"id": "Microsoft.Azure.Functions.ExtensionBundle", "version": "[4.*, 5.0.0)"}}'
"""The shortest `host.json` with which Azure runs a Service Bus trigger in Python."""

BUNDLE = "Microsoft.Azure.Functions.ExtensionBundle"
PREVIEW = f"{BUNDLE}.Preview"

OLDEST_BUNDLE = (2, 6, 1)
"""The oldest bundle that the host of version 4 takes (azure-functions-host, `extensionrequirements.json`)."""

_BUNDLE = "extensionbundle__"
_NEWEST = 10**6  # a part of a version that may be any
_LOWEST = re.compile(r"[\[(]?\s*(\d+)(?:\.(\d+|\*))?(?:\.(\d+|\*))?")

SCRIPT = "function_app.py"

DECORATOR, ENDPOINT = "service_bus_queue_trigger", "ServiceBusEndpoint"

Settings = Mapping[str, str | Unknown] | Unknown

NO_HOST = Unknown("there is no host.json beside the file or above it")


def check_host_file(document: Mapping[str, Any], settings: Mapping[str, str], *, extensions_installed: bool) -> None:
    """Raise an error for a `host.json` with which Azure would run no Service Bus trigger.

    Args:
        document: Its content.
        settings: The app settings, which can name the bundle too.
        extensions_installed: True if the app brings its extensions along, in `bin/extensions.json`; it then needs no bundle.

    Raises:
        ValueError: The host would not start, or would not know the trigger (azure-functions-host, `HostJsonFileConfigurationSource`,
            `ExtensionBundleConfigurationHelper` and `FunctionDescriptorProvider`).
    """
    _check_version(document)
    flat = values_of(document, settings)
    bundle = {name.removeprefix(_BUNDLE): value for name, value in flat.items() if name.startswith(_BUNDLE)}
    if bundle:
        _check_bundle(bundle.get("id"), bundle.get("version"))
    elif not extensions_installed:
        raise ValueError(
            "it has no extensionBundle, so Azure does not know the Service Bus trigger and runs no function; "
            f"write at least {MINIMAL_HOST_JSON}"
        )


def _check_version(document: Mapping[str, Any]) -> None:
    if document and document.get("version") != "2.0":  # the host completes a file with nothing in it
        came = repr(document["version"]) if "version" in document else "missing"
        raise ValueError(f'"version" is {came}, and Azure starts no app with that; write "version": "2.0"')


def _check_bundle(name: object, version: object) -> None:
    if name not in (BUNDLE, PREVIEW):
        raise ValueError(
            f"extensionBundle.id is {name!r}, and Azure has no Service Bus trigger under that name; write {BUNDLE!r}"
        )
    if not isinstance(version, str) or (lowest := _LOWEST.match(version.strip())) is None:
        raise ValueError(f"extensionBundle.version is {version!r}, which is no range of versions; write '[4.*, 5.0.0)'")
    if tuple(_NEWEST if part in (None, "*") else int(part) for part in lowest.groups()) < OLDEST_BUNDLE:
        raise ValueError(
            f"extensionBundle.version is {version!r}, which Azure Functions 4 refuses; write '[4.*, 5.0.0)'"
        )


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
            for call in (each for each in node.decorator_list if calls_name(each, DECORATOR)):
                said = keywords(call)
                if name := queue_name(said.get("queue_name"), settings):
                    many = word(said.get("cardinality")) == "many"
                    completes = literal(said.get("auto_complete_messages"))
                    binary = word(said.get("data_type")) == "binary"
                    yield name, Trigger(node.name, binary, completes if isinstance(completes, bool) else None, many)


def endpoints(module: ast.Module, settings: Mapping[str, str]) -> Iterator[tuple[str, Trigger]]:
    """Yield the triggers that the blueprints of endpoints make."""
    for node in ast.walk(module):
        if calls_name(node, ENDPOINT):
            said = keywords(node)
            if name := queue_name(said.get("queue"), settings):
                yield name, Trigger(name, binary=True, completes=True, many=literal(said.get("batch")) is True)


def calls_name(node: ast.AST, name: str) -> bool:
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


@dataclass(frozen=True, slots=True)
class App:
    """The app that a file deploys.

    Args:
        settings: its settings.
        folder: where its code and its host.json are.
        host: the options of that.
    """

    settings: Settings
    folder: Path | Unknown
    host: HostOptions | Unknown

    @property
    def known_settings(self) -> Mapping[str, str]:
        """Return those settings whose values are known."""
        said = {} if isinstance(self.settings, Unknown) else self.settings
        return {name: each for name, each in said.items() if isinstance(each, str)}


def workload(app: App) -> Workload | Unknown:
    """Return how many messages run at a time on an instance of one core, in plain functions."""
    if isinstance(app.host, Unknown):
        return app.host
    if isinstance(app.settings, Unknown):
        return app.settings
    return Workload(app.host.max_concurrent_calls or CALLS_PER_CORE, worker_threads(app.known_settings, cores=1))


def app_of(path: Path, settings: Settings) -> App:
    """Return the app whose `host.json` is beside a file, or in the nearest folder above it."""
    for folder in path.resolve().parents:
        if (folder / "host.json").is_file():
            app = App(settings, folder, NO_HOST)
            return replace(app, host=read_host(folder / "host.json", app.known_settings))
    return App(settings, NO_HOST, NO_HOST)


def read_host(path: Path, settings: Mapping[str, str]) -> HostOptions | Unknown:
    """Return the options of a `host.json`, which app settings can replace."""
    host = read_host_json(path, settings)
    if host.problems:
        return Unknown("; ".join(host.problems))
    try:
        check_host_file(host.document or {}, settings, extensions_installed=False)
    except ValueError as error:
        return Unknown(f"{path}: {error}")
    return host.options
