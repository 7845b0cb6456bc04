"""Describe the queues of an ARM template that functions read, with the app that reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from recoverable_operate.rules._endpoint import Endpoint, error_name
from recoverable_operate.rules._ladder import ladder_of
from recoverable_operate.rules._names import PLACEHOLDER, near
from recoverable_operate.rules._on_service_bus import NAMESPACE, Grant, OnServiceBus, ServiceBusQueue, Trigger
from recoverable_operate.rules._rule import Check, Unknown
from recoverable_operate.templates._app_folder import folder_of
from recoverable_operate.templates._arm_resources import resources_of
from recoverable_operate.templates._arm_values import Scope
from recoverable_operate.templates._azure_places import places_of
from recoverable_operate.templates._function_app import SCRIPT, App, QueueReader, app_of, workload
from recoverable_operate.templates._places import Place
from recoverable_operate.templates._service_bus_resources import (
    QUEUES,
    SUBSCRIPTIONS,
    entity_named,
    entity_of,
    grants_of,
    identities_of,
    longest_of,
    of_type,
    settings_of,
    site_of,
    tier_of,
)

ANY_CODE = Unknown("any code is asked about")


@dataclass(frozen=True, slots=True)
class DescribedServiceBus:
    """The content of an ARM template.

    Args:
        queues: those that a function reads which uses this package, or may.
        left_alone: the names of the others.
        parts: its modules, read or not.
        places: where things are written, by the names that findings have for them.
        is_read: True if the code has a function that reads a queue, or could not be read.
    """

    queues: tuple[OnServiceBus, ...]
    left_alone: tuple[str, ...]
    parts: tuple[Check, ...]
    places: Mapping[str, Place]
    is_read: bool


@dataclass(frozen=True, slots=True)
class Deployment:
    """The queues, identities and limits that a template deploys, and the app.

    Args:
        queues: its queues.
        subscriptions: its subscriptions.
        grants: the roles on them.
        tiers: of the queues' namespaces, by the queues' names.
        app: the app.
        identities: the ids of the app's identities.
        assumed: queues of other files.
        longest: how long the plan lets a function run; None for any time.
    """

    queues: tuple[ServiceBusQueue, ...]
    subscriptions: tuple[ServiceBusQueue, ...]
    grants: tuple[Grant, ...] | Unknown
    tiers: Mapping[str, str | Unknown]
    app: App
    identities: frozenset[str] | Unknown
    assumed: tuple[ServiceBusQueue, ...]
    longest: timedelta | Unknown | None

    @property
    def all_queues(self) -> tuple[ServiceBusQueue, ...]:
        """Return the queues that are known."""
        return (*self.queues, *self.assumed)

    def is_granted(self, queue: ServiceBusQueue) -> bool:
        """True if somebody has a role to read a queue, or may have."""
        grants = () if isinstance(self.grants, Unknown) else self.grants
        is_named = not PLACEHOLDER.search(queue.name)
        return any(each.role != "send" and (each.scope in (queue.name, NAMESPACE) or not is_named) for each in grants)

    @property
    def candidates(self) -> Iterator[ServiceBusQueue]:
        """Yield the queues that are no error queues."""
        errors = {each.dead_letters_to for each in self.queues}
        yield from (each for each in self.queues if each.name not in errors)


def describe_service_bus(
    scope: Scope, path: Path, app: Path | None = None, assumed: Mapping[str, Any] | None = None, *, every: bool = False
) -> DescribedServiceBus:
    """Describe the queues of a template and of its modules.

    Args:
        scope: the template with its parameters.
        path: of its file.
        app: the folder of the app; None for the nearest one.
        assumed: the properties of queues of other files, by their names.
        every: True to describe each queue, whatever the code uses that reads it.

    Raises:
        TemplateError: the template cannot be read.
    """
    resources, parts = resources_of(scope)
    folder, service = folder_of(path, app)
    site = site_of(resources, service)
    queues = of_type(resources, QUEUES)
    whole = Deployment(
        queues=tuple(map(entity_of, queues)),
        subscriptions=tuple(map(entity_of, of_type(resources, SUBSCRIPTIONS))),
        grants=grants_of(resources),
        tiers={each.own_name: tier_of(resources, each) for each in queues},
        app=app_of(folder, settings_of(resources, site)),
        identities=site if isinstance(site, Unknown) else identities_of(site),
        longest=longest_of(resources),
        assumed=tuple(entity_named(name, each) for name, each in (assumed or {}).items()),
    )
    described = [(queue, describe_queue(queue, whole)) for queue in whole.candidates]
    if every:
        described = [(queue, described_as(queue, whole, ANY_CODE, ANY_CODE)) for queue in whole.candidates]
        return DescribedServiceBus(
            tuple(each for _, each in described if each is not None),
            (),
            parts,
            places_of(resources, path),
            bool(described),
        )
    found = (*(each for _, each in described if each is not None), *strange_queues(whole))
    left_alone = tuple(queue.name for queue, each in described if each is None)
    is_read = not isinstance(whole.app.readers, Unknown) and bool(whole.app.readers)
    return DescribedServiceBus(found, left_alone, parts, places_of(resources, path), bool(found) or is_read)


def describe_queue(queue: ServiceBusQueue, whole: Deployment) -> OnServiceBus | None:
    """Return the description of a queue; None if no function reads it that uses this package."""
    app, readers = whole.app, whole.app.readers
    if isinstance(readers, Unknown):
        if app.uses is True and not (isinstance(whole.grants, Unknown) or whole.is_granted(queue)):
            return None
        why = app.uses.why if isinstance(app.uses, Unknown) else ""
        return described_as(queue, whole, readers, readers, unread=unread_because(queue.name, why))
    mine = [each for each in readers if isinstance(each.queue, str) and each.queue.lower() == queue.name.lower()]
    unclear = next((each.queue for each in readers if isinstance(each.queue, Unknown)), None)
    if PLACEHOLDER.search(queue.name):
        unclear = Unknown("its name is not known here")
    elif app.uses is not False and not all_are_known(app):
        unclear = Unknown(f"{SCRIPT} does not say in plain words which queue each endpoint reads")
    if not mine:
        if unclear is None or app.uses is False:
            return None
        is_read = app.uses is True and whole.is_granted(queue)
        unread = "" if is_read else unread_because(queue.name, unclear.why)
        return described_as(queue, whole, unclear, unclear, unread=unread)
    endpoint = endpoint_on(queue.name, mine, app)
    if endpoint is None and unclear is None:
        return None
    first, *others = sorted(mine, key=lambda each: each.endpoint is None)
    trigger = replace(first.trigger, other_readers=tuple(each.trigger.function for each in others))
    unnamed = Unknown(f"the code names no endpoint of {queue.name} in plain words")
    return described_as(queue, whole, trigger, endpoint or unnamed)


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


def strange_queues(whole: Deployment) -> Iterator[OnServiceBus]:
    """Yield a description for each endpoint whose queue the files do not make."""
    names = {each.name.lower() for each in whole.all_queues}
    are_known = not any(map(PLACEHOLDER.search, names))
    for reader in () if isinstance(whole.app.readers, Unknown) else whole.app.readers:
        if reader.endpoint is None:
            continue
        if isinstance(reader.queue, Unknown):
            yield described_as(reader.queue, whole, reader.trigger, reader.endpoint, name=reader.queue)
        elif are_known and reader.queue.lower() not in names:
            yield described_as(not_here(reader.queue), whole, reader.trigger, reader.endpoint, name=reader.queue)


def not_here(queue: str) -> Unknown:
    """Return what stands for a queue of another file."""
    return Unknown(
        f"the queue {queue} is not in this file; `recoverable check --queue` looks at a deployed one, and --assume says what it is like"
    )


def described_as(
    queue: ServiceBusQueue | Unknown,
    whole: Deployment,
    trigger: Trigger | Unknown,
    code: Endpoint | Unknown,
    *,
    name: str | Unknown = "",
    unread: str = "",
) -> OnServiceBus:
    """Return the description of a queue."""
    app, settings = whole.app, whole.app.settings
    variables: Mapping[str, str | Unknown] = {} if isinstance(settings, Unknown) else settings
    named = error_name(code, settings)
    queue_name = queue.name if isinstance(queue, ServiceBusQueue) else name
    of_code = code if isinstance(code, Unknown) else code.ladder
    return OnServiceBus(
        queue,
        error_entity_of(queue, named, whole),
        host=app.host,
        bundle=app.bundle,
        trigger=trigger,
        workload=workload(app),
        settings=settings,
        grants=queue if isinstance(queue, Unknown) else whole.grants,
        identities=whole.identities,
        ladder=ladder_of(variables) if isinstance(app.readers, Unknown) else of_code,
        code=code,
        queue_name=queue_name,
        error_name=named,
        made=frozenset(each.name for each in whole.all_queues),
        subscriptions=tuple(each for each in whole.subscriptions if is_meant(each, queue_name, whole)),
        tier=queue if isinstance(queue, Unknown) else whole.tiers[queue.name],
        stamped=app.stamped,
        unread=unread,
        longest=whole.longest,
        host_values=app.values,
    )


def is_meant(subscription: ServiceBusQueue, queue: object, whole: Deployment) -> bool:
    """True if a subscription forwards to a queue, or to a name that is like the queue's and no other's."""
    name = subscription.forwards_to
    made = {each.name.lower() for each in whole.all_queues}
    if not isinstance(name, str) or not isinstance(queue, str):
        return False
    return name.lower() == queue.lower() or (name.lower() not in made and near(name, [queue]) is not None)


def error_entity_of(
    queue: ServiceBusQueue | Unknown, named: str | Unknown, whole: Deployment
) -> ServiceBusQueue | Unknown | None:
    """Return the error queue: the one that is named, if it is made here, else the one that gets the queue's dead letters."""
    target = queue if isinstance(queue, Unknown) else queue.dead_letters_to
    for name in (named, target):
        for each in whole.all_queues:
            if isinstance(name, str) and each.name.lower() == name.lower():
                return each
    if target is None or isinstance(target, Unknown):
        return target
    return Unknown(f"the queue {target} is not in this file; `recoverable check --queue` looks at a deployed one")
