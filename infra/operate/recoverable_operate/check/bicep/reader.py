"""Read a Bicep file, its local modules and the `host.json` of its app into descriptions: one for each queue that a function may read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recoverable_operate.check.bicep.app import App, Settings, app_of, workload
from recoverable_operate.check.bicep.resources import SUBSCRIPTIONS, grants_of, maybe, queues_of, settings_of, tier_of
from recoverable_operate.check.bicep.values import BicepError, File, value
from recoverable_operate.check.functions_app.code import trigger_on
from recoverable_operate.check.known import Unknown
from recoverable_operate.check.ladder import PREFIX, ladder_of
from recoverable_operate.check.service_bus import NAMESPACE, Grant, OnServiceBus, Queue

if TYPE_CHECKING:
    from pycep import BicepParser


@dataclass(frozen=True, slots=True)
class Deployed:
    """The queues and subscriptions that a file makes, with the roles on them and the tier of the namespace."""

    queues: tuple[Queue, ...]
    subscriptions: tuple[Queue, ...]
    grants: tuple[Grant, ...] | Unknown
    tier: str | Unknown


def describe(path: Path, parameters: Mapping[str, str]) -> tuple[OnServiceBus, ...]:
    """Return a description for each queue that is no error queue, and that somebody may read as far as the file assigns roles.

    Raises:
        BicepError: the file cannot be read.
        OSError: it cannot be opened.
    """
    file = parsed(path)
    file = replace(file, given=typed(file, parameters))
    parts, app = [deployed(file), *modules(file, path)], app_of(path, settings_of(file))
    return tuple(described(queue, part, app) for part in parts for queue in read_queues(part))


def parsed(path: Path) -> File:
    """Return a file as it was parsed.

    Raises:
        BicepError: it is no Bicep, or has a form that the parser does not know.
    """
    text, read = path.read_text(encoding="utf-8"), parser()
    try:
        return File(read.parse(text=text))
    except Exception as error:
        line = getattr(error, "line", None)
        raise BicepError(f"the parser does not understand it{f' from line {line}' if line else ''}") from error


@cache
def parser() -> BicepParser:
    """Return the parser, which takes a while to load its grammar."""
    from pycep import BicepParser  # noqa: PLC0415  # for those who look at Bicep

    return BicepParser()


def typed(file: File, given: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of parameters, of the types that the file declares.

    Raises:
        BicepError: there is no such parameter, or it is no number.
    """
    declared = file.section("parameters")
    for name in given:
        if name not in declared:
            raise BicepError(f"there is no parameter {name}; the file has {', '.join(declared) or 'none'}")
    try:
        return {name: as_type(text, declared[name].get("type")) for name, text in given.items()}
    except ValueError as error:
        raise BicepError(f"--parameter: {error}") from error


def as_type(text: str, kind: object) -> object:
    """Return a value of a type."""
    match kind:
        case "int":
            return int(text)
        case "bool":
            return text.lower() == "true"
        case _:
            return text


def deployed(file: File) -> Deployed:
    """Return what a file makes by itself."""
    return Deployed(queues_of(file), queues_of(file, SUBSCRIPTIONS), grants_of(file), tier_of(file))


def modules(file: File, path: Path) -> Iterator[Deployed]:
    """Yield what the local modules of a file make; those of registries are not looked at."""
    for module in file.section("modules").values():
        local = path.parent / str((module.get("detail") or {}).get("path", ""))
        if module.get("type") == "local" and local.is_file():
            inner = parsed(local)
            config = module.get("config")
            passed = (config.get("params") if isinstance(config, dict) else None) or {}
            values = {name: maybe(lambda node=node: value(node, file)) for name, node in passed.items()}  # type: ignore[misc]
            yield deployed(
                replace(inner, given={name: each for name, each in values.items() if not isinstance(each, Unknown)})
            )


def read_queues(part: Deployed) -> Iterator[Queue]:
    """Yield the queues that are no error queues, and that somebody may read as far as roles are assigned."""
    errors = {queue.dead_letters_to for queue in part.queues}
    readers = None if isinstance(part.grants, Unknown) else {each.scope for each in part.grants if each.role != "send"}
    for queue in part.queues:
        if queue.name not in errors and (readers is None or {queue.name, NAMESPACE} & readers):
            yield queue


def described(queue: Queue, part: Deployed, app: App) -> OnServiceBus:
    """Return the description of a queue."""
    return OnServiceBus(
        queue,
        error_queue_of(queue, part.queues, app.settings),
        host=app.host,
        trigger=app.folder
        if isinstance(app.folder, Unknown)
        else trigger_on(queue.name, app.folder, app.known_settings),
        workload=workload(app),
        settings=app.settings,
        grants=part.grants,
        subscriptions=tuple(each for each in part.subscriptions if each.forwards_to == queue.name),
        tier=part.tier,
        ladder=ladder_of({} if isinstance(app.settings, Unknown) else app.settings),
    )


def error_queue_of(queue: Queue, queues: tuple[Queue, ...], settings: Settings) -> Queue | Unknown | None:
    """Return the queue that gets a queue's dead letters, else the one that the app settings name."""
    named = None if isinstance(settings, Unknown) else settings.get(f"{PREFIX}ERROR_QUEUE")
    target = queue.dead_letters_to if queue.dead_letters_to is not None else named
    if target is None or isinstance(target, Unknown):
        return target
    missing = Unknown(f"the queue {target} is none of this file; `recoverable check --queue` looks at a deployed one")
    return next((each for each in queues if each.name == target), missing)
