"""Expand the loops of a template, `Fn::ForEach`, as CloudFormation's transform AWS::LanguageExtensions does. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from recoverable_operate.check.cloudformation.document import TemplateError
from recoverable_operate.check.cloudformation.intrinsics import Scope, resolve

_LOOP = "Fn::ForEach::"
_TRANSFORM = "AWS::LanguageExtensions"


def expand_section(section: Mapping[str, Any], scope: Scope) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return a section with what its loops make in their places, and a note on each loop that cannot be expanded."""
    expanded: dict[str, Any] = {}
    notes: list[str] = []
    for name, value in section.items():
        try:
            expanded |= _expand({name: value}, scope)
        except TemplateError as error:
            if not str(name).startswith(_LOOP):
                raise
            notes.append(f"{name} is not expanded, and its resources are not run: {error}")
    return expanded, tuple(notes)


def transform_notes(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a note if the template has loops but not the transform that CloudFormation expands them by."""
    transforms = document.get("Transform") or []
    named = transforms if isinstance(transforms, list) else [transforms]
    if _TRANSFORM in named or not _has_loop(document.get("Resources")):
        return ()
    return (
        f"CloudFormation expands Fn::ForEach only where the section Transform lists {_TRANSFORM}, before SAM's own",
    )


def _has_loop(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = isinstance(value, dict) and any(str(key).startswith(_LOOP) for key in value)
    return own or any(_has_loop(each) for each in inner)


def _expand(value: Any, scope: Scope) -> Any:
    match value:
        case dict():
            expanded: dict[Any, Any] = {}
            for key, inner in value.items():
                expanded |= _loop(inner, scope) if str(key).startswith(_LOOP) else {key: _expand(inner, scope)}
            return expanded
        case list():
            return [_expand(inner, scope) for inner in value]
        case _:
            return value


def _loop(argument: Any, scope: Scope) -> dict[Any, Any]:
    match argument:
        case [str(identifier), choices, dict(body)]:
            made: dict[Any, Any] = {}
            for item in _items(choices, scope):
                made |= _expand(_with_item(body, identifier, item), scope)
            return made
        case _:
            raise TemplateError(
                "a loop is a list of three: a name, a list of values, and a mapping whose keys contain ${name}."
            )


def _items(choices: Any, scope: Scope) -> list[str]:
    items = resolve(choices, scope)
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise TemplateError(f"a loop runs over a list of texts; this one's is {items!r:.80}.")
    return items


def _with_item(value: Any, identifier: str, item: str) -> Any:
    """Replace `${name}`, `&{name}` (letters and digits alone) and a `Ref` to the name by one item of the loop."""
    match value:
        case {"Ref": name} if name == identifier:
            return item
        case dict():
            return {
                _with_item(key, identifier, item): _with_item(inner, identifier, item) for key, inner in value.items()
            }
        case list():
            return [_with_item(inner, identifier, item) for inner in value]
        case str():
            plain = re.sub("[^A-Za-z0-9]", "", item)
            return value.replace(f"${{{identifier}}}", item).replace(f"&{{{identifier}}}", plain)
        case _:
            return value
