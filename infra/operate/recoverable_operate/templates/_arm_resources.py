"""List the resources that an ARM template deploys, with the values of their properties: loops, conditions, children and modules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from recoverable._service_bus.host_json import parse_json
from recoverable_operate.rules._rule import Check
from recoverable_operate.templates._arm_functions import Later, read_safely
from recoverable_operate.templates._arm_values import MODULE, Scope, inside_of, rounds_of, value, written_resources
from recoverable_operate.templates._document import TemplateError, measure
from recoverable_operate.templates._stacks import PARTS

MOST_RESOURCES = 10_000


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource that is deployed.

    Args:
        symbol: its symbolic name; its place in the list in a template of language 1.
        type: in small letters, with those of its parents.
        name: with those of its parents; what is not known of it stands in angle brackets.
        body: what is said of it, with its values.
        written: its type and name as they are written.
    """

    symbol: str
    type: str
    name: str
    body: Mapping[str, Any]
    written: tuple[tuple[str, str], tuple[str, str]]

    @property
    def own_name(self) -> str:
        """Return the name without those of the parents."""
        return names_in(self.name)[-1]

    @property
    def id(self) -> str:
        """Return the id from the provider on, in small letters."""
        provider, *types = self.type.split("/")
        pairs = (f"{kind}/{name}" for kind, name in zip(types, names_in(self.name), strict=False))
        return "/".join((f"/providers/{provider}", *pairs)).lower()

    def read(self, *path: str) -> Any:
        """Return the value at the end of a way; None where nothing is set."""
        return read_safely(self.body, *path)


def names_in(path: str) -> list[str]:
    """Return the names of a path; a slash in angle brackets ends none."""
    return re.findall(r"(?:<[^<>]*>|[^/<])+", path) or [path]


def last_name(path: object) -> str:
    """Return the last name of an id."""
    return names_in(str(path))[-1]


def parse_template(text: str) -> Mapping[str, Any]:
    """Return an ARM template, which may have comments.

    Raises:
        TemplateError: it is none.
    """
    try:
        document = parse_json(text)
        measure(document)
    except (ValueError, RecursionError) as error:
        raise TemplateError(f"it is no JSON: {error}") from error
    if not isinstance(document, dict):
        raise TemplateError("it is no template: a JSON object")
    return document


def resources_of(scope: Scope) -> tuple[tuple[Resource, ...], tuple[Check, ...]]:
    """Return the resources that a template deploys, and for each of its modules whether it was read.

    Raises:
        TemplateError: there are too many.
    """
    try:
        found = list(islice(deployed(scope), MOST_RESOURCES + 1))
    except (AttributeError, TypeError) as error:
        raise TemplateError(f"a part of it is not what it is in a template: {error}") from error
    if len(found) > MOST_RESOURCES:
        raise TemplateError(f"it deploys more than {MOST_RESOURCES:,} resources")
    resources = tuple(each for each in found if isinstance(each, Resource))
    return resources, tuple(each for each in found if isinstance(each, Check))


def deployed(scope: Scope, parent: tuple[str, str] = ("", "")) -> Iterator[Resource | Check]:
    """Yield what a template deploys, or what a resource has inside of it.

    Args:
        scope: the template with its values.
        parent: type and name of the resource around.
    """
    for symbol, resource in written_resources(scope.template):
        loop = resource.get("copy")
        for inside in rounds_of(loop, scope) if isinstance(loop, dict) else [scope]:
            if resource.get("existing") is True or value(resource.get("condition", True), inside) is False:
                continue
            kind, name = str(resource.get("type")), named(resource, symbol, inside)
            if parent[0] and "." not in kind:
                kind, name = f"{parent[0]}/{kind}", f"{parent[1]}/{name}"
            if kind.lower() == MODULE:
                yield from module(resource, name, inside)
                continue
            body = {
                key: each for key, each in resource.items() if key not in ("copy", "resources", "condition", "name")
            }
            written = (("type", str(resource.get("type"))), ("name", str(resource.get("name"))))
            yield Resource(symbol, kind.lower(), name, value(body, inside), written)
            if children := resource.get("resources"):
                yield from deployed(replace(inside, template={**inside.template, "resources": children}), (kind, name))


def named(resource: Mapping[str, Any], symbol: str, scope: Scope) -> str:
    """Return the name of a resource; its symbolic name, or type and place, stands for one that is not known at all."""
    found = value(resource.get("name"), scope)
    by_place = f"<{last_name(resource.get('type'))} {symbol}>"
    return (by_place if symbol.isdecimal() else f"<{symbol}>") if isinstance(found, Later) else str(found)


def module(resource: Mapping[str, Any], name: str, scope: Scope) -> Iterator[Resource | Check]:
    """Yield what a module deploys, and that it was read; or why it was not."""
    if not isinstance((resource.get("properties") or {}).get("template"), dict):
        yield Check(PARTS, name, not_checked=f"the module {name} is not read: its template is not in this file")
        return
    yield Check(PARTS, name)
    yield from deployed(inside_of(resource, scope))
