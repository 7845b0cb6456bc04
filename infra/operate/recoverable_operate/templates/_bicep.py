"""Describe the queues of a Bicep file and its local modules that functions read, with the app beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recoverable_operate.rules._endpoint import Endpoint, error_name
from recoverable_operate.rules._ladder import ladder_of
from recoverable_operate.rules._names import PLACEHOLDER
from recoverable_operate.rules._on_service_bus import NAMESPACE, OnServiceBus, ServiceBusQueue, Trigger
from recoverable_operate.rules._rule import Check, Unknown
from recoverable_operate.templates._bicep_resources import (
    Deployed,
    deployed,
    deployments,
    entity_named,
    identities_of,
    parsed,
    principal_of,
    settings_of,
    typed,
)
from recoverable_operate.templates._bicep_values import File, Symbol, configuration, value
from recoverable_operate.templates._document import TemplateError, maybe
from recoverable_operate.templates._function_app import SCRIPT, App, QueueReader, app_of, workload
from recoverable_operate.templates._places import Place
from recoverable_operate.templates._stacks import PARTS


@dataclass(frozen=True, slots=True)
class DescribedBicep:
    """The content of a Bicep file.

    Args:
        queues: those that a function reads which uses this package, or may.
        left_alone: the names of the others.
        parts: its modules, read or not.
        places: where things are written, by the names that findings have for them.
    """

    queues: tuple[OnServiceBus, ...]
    left_alone: tuple[str, ...]
    parts: tuple[Check, ...]
    places: Mapping[str, Place]


def describe_bicep(path: Path, parameters: Mapping[str, str], assumed: Mapping[str, Any]) -> DescribedBicep:
    """Describe the queues of a file and of its local modules.

    Args:
        path: of the file.
        parameters: values by name.
        assumed: the properties of queues of other files, by their names.

    Raises:
        TemplateError: the file cannot be read.
        OSError: it cannot be opened.
    """
    file = parsed(path)
    file = replace(file, given=typed(file, parameters))
    read = [deployed(file, path), *modules(file, path)]
    found = [each for each in read if isinstance(each, Deployed)]
    parts = tuple(each for each in read if isinstance(each, Check))
    others = tuple(entity_named(name, {"properties": each}, File({})) for name, each in assumed.items())
    everything = (*(queue for part in found for queue in part.queues), *others)
    whole = Whole(everything, app_of(path, settings_of(file)), identities_of(file))
    described = [(queue, describe_queue(queue, part, whole)) for part in found for queue in candidates(part)]
    strangers = strange_queues(whole)
    left_alone = tuple(queue.name for queue, each in described if each is None)
    places = {name: place for part in found for name, place in part.places.items()}
    queues = (*(each for _, each in described if each is not None), *strangers)
    return DescribedBicep(queues, left_alone, parts if queues else (), places)


@dataclass(frozen=True, slots=True)
class Whole:
    """What all parts of a deployment have in common: its queues, its app, and the app's identities."""

    queues: tuple[ServiceBusQueue, ...]
    app: App
    identities: frozenset[str] | Unknown

    @property
    def names(self) -> frozenset[str]:
        """Return the names of the queues."""
        return frozenset(each.name for each in self.queues)


def candidates(part: Deployed) -> Iterator[ServiceBusQueue]:
    """Yield the queues of a part that are no error queues."""
    errors = {queue.dead_letters_to for queue in part.queues}
    yield from (queue for queue in part.queues if queue.name not in errors)


def modules(file: File, path: Path, above: tuple[Path, ...] = ()) -> Iterator[Deployed | Check]:
    """Yield what the local modules of a file make, and theirs; a check that was not done for one that cannot be read."""
    for symbol, module in file.section("modules").items():
        local = path.parent / str((module.get("detail") or {}).get("path", ""))
        if module.get("type") != "local":
            yield Check(PARTS, symbol, not_checked=f"the module {symbol} is of a registry, and not read")
            continue
        try:
            if local.resolve() in (*above, path.resolve()):
                raise TemplateError("it uses itself")
            read = parsed(local)
        except (OSError, UnicodeDecodeError, TemplateError) as error:
            yield Check(PARTS, symbol, not_checked=f"the module {symbol} is not read: {error}")
            continue
        yield Check(PARTS, symbol)
        for there in deployments(module.get("config"), file):
            inner = replace(read, given=passed(module.get("config"), there))
            yield deployed(inner, local)
            yield from modules(inner, local, (*above, path.resolve()))


def passed(config: Any, file: File) -> dict[str, Any]:
    """Return the values that a module is given; a property of a resource by the resource's symbolic name."""
    node = configuration({"config": config})
    given = node.get("params")
    found = {name: passed_value(each, file) for name, each in (given if isinstance(given, dict) else {}).items()}
    return {name: each for name, each in found.items() if each is not None}


def passed_value(node: Any, file: File) -> Any:
    """Return a value that a module is given; a `Symbol` where only Azure knows it."""
    found = maybe(lambda: value(node, file))
    if not isinstance(found, Unknown):
        return found
    principal = principal_of(node, file)
    return Symbol("" if isinstance(principal, Unknown) else principal)


def describe_queue(queue: ServiceBusQueue, part: Deployed, whole: Whole) -> OnServiceBus | None:
    """Return the description of a queue; None if no function reads it that uses this package."""
    app, readers = whole.app, whole.app.readers
    if isinstance(readers, Unknown):
        if app.uses is True and not may_be_read(queue, part):
            return None
        why = app.uses.why if isinstance(app.uses, Unknown) else ""
        return described_as(queue, part, whole, readers, readers, unread=unread_because(queue.name, why))
    mine = [each for each in readers if isinstance(each.queue, str) and each.queue.lower() == queue.name.lower()]
    unclear = next((each.queue for each in readers if isinstance(each.queue, Unknown)), None)
    if PLACEHOLDER.search(queue.name):
        unclear = Unknown("its name is not known here")
    elif app.uses is not False and not all_are_known(app):
        unclear = Unknown(f"{SCRIPT} does not say in plain words which queue each endpoint reads")
    if not mine:
        if unclear is None or app.uses is False:
            return None
        is_read = app.uses is True and is_granted(queue, part)
        return described_as(
            queue, part, whole, unclear, unclear, unread="" if is_read else unread_because(queue.name, unclear.why)
        )
    endpoint = endpoint_on(queue.name, mine, app)
    if endpoint is None and unclear is None:
        return None
    first, *others = sorted(mine, key=lambda each: each.endpoint is None)
    trigger = replace(first.trigger, other_readers=tuple(each.trigger.function for each in others))
    return described_as(
        queue, part, whole, trigger, endpoint or Unknown(f"the code names no endpoint of {queue.name} in plain words")
    )


def may_be_read(queue: ServiceBusQueue, part: Deployed) -> bool:
    """True if somebody may read a queue, as far as roles are assigned; or if no role can say it."""
    return isinstance(part.grants, Unknown) or is_granted(queue, part)


def is_granted(queue: ServiceBusQueue, part: Deployed) -> bool:
    """True if somebody has a role to read a queue."""
    grants = () if isinstance(part.grants, Unknown) else part.grants
    return any(each.role != "send" and each.scope in (queue.name, NAMESPACE) for each in grants)


def unread_because(queue: str, why: str) -> str:
    """Return why it is not known whether the function that reads a queue uses this package; empty where it is."""
    return f"whether a function that reads {queue} uses this package: {why}" if why else ""


def endpoint_on(queue: str, readers: list[QueueReader], app: App) -> Endpoint | None:
    """Return the endpoint of a queue: one that reads it, or one that its trigger may call."""
    mine = [each.endpoint for each in readers if each.endpoint is not None]
    mine += [each for each in app.unbound if isinstance(each.queue, str) and each.queue.lower() == queue.lower()]
    return mine[0] if mine else None


def all_are_known(app: App) -> bool:
    """True if the code makes endpoints, and says of each which queue it is for."""
    readers = () if isinstance(app.readers, Unknown) else app.readers
    endpoints = [*app.unbound, *(each.endpoint for each in readers if each.endpoint is not None)]
    return bool(endpoints) and not any(isinstance(each.queue, Unknown) for each in endpoints)


def strange_queues(whole: Whole) -> Iterator[OnServiceBus]:
    """Yield a description for each endpoint whose queue the files do not make."""
    names = {name.lower() for name in whole.names}
    if any(map(PLACEHOLDER.search, names)):
        return
    for reader in () if isinstance(whole.app.readers, Unknown) else whole.app.readers:
        if reader.endpoint is not None and isinstance(reader.queue, str) and reader.queue.lower() not in names:
            missing = Unknown(
                f"the queue {reader.queue} is not in this file; `recoverable check --queue` looks at a deployed one, and --assume says what it is like"
            )
            nothing = Deployed(Path(), (), (), missing, missing, {})
            yield described_as(missing, nothing, whole, reader.trigger, reader.endpoint, name=reader.queue)


def described_as(
    queue: ServiceBusQueue | Unknown,
    part: Deployed,
    whole: Whole,
    trigger: Trigger | Unknown,
    code: Endpoint | Unknown,
    *,
    name: str = "",
    unread: str = "",
) -> OnServiceBus:
    """Return the description of a queue."""
    app, settings = whole.app, whole.app.settings
    variables: Mapping[str, str | Unknown] = {} if isinstance(settings, Unknown) else settings
    named = error_name(code, settings)
    queue_name = queue.name if isinstance(queue, ServiceBusQueue) else name
    return OnServiceBus(
        queue,
        error_entity_of(queue, named, whole),
        host=app.host,
        bundle=app.bundle,
        trigger=trigger,
        workload=workload(app),
        settings=settings,
        grants=part.grants,
        identities=whole.identities,
        ladder=ladder_of(variables)
        if isinstance(app.readers, Unknown)
        else code
        if isinstance(code, Unknown)
        else code.ladder,
        code=code,
        queue_name=queue_name,
        error_name=named,
        made=whole.names,
        subscriptions=tuple(each for each in part.subscriptions if each.forwards_to == queue_name),
        tier=part.tier,
        stamped=whole.app.stamped,
        unread=unread,
    )


def error_entity_of(
    queue: ServiceBusQueue | Unknown, named: str | Unknown, whole: Whole
) -> ServiceBusQueue | Unknown | None:
    """Return the error queue: the one that is named, if it is made here, else the one that gets the queue's dead letters."""
    target = queue if isinstance(queue, Unknown) else queue.dead_letters_to
    for name in (named, target):
        for each in whole.queues:
            if isinstance(name, str) and each.name.lower() == name.lower():
                return each
    if target is None or isinstance(target, Unknown):
        return target
    return Unknown(f"the queue {target} is not in this file; `recoverable check --queue` looks at a deployed one")
