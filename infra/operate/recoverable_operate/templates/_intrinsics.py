"""Resolve CloudFormation's intrinsic functions to plain values, and expand its loops."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from recoverable_operate.templates._document import NOT_HERE, MissingValue, TemplateError, as_text


@dataclass(frozen=True, slots=True)
class Scope:
    """The values that the names in a template resolve to.

    Args:
        parameters: The values of `Parameters` and of the pseudo parameters such as `AWS::Region`.
        mappings: The section `Mappings`.
        conditions: The section `Conditions`, unresolved.
        resources: The section `Resources`, for error messages about names that cannot be resolved.
        attributes: The values of `Ref` and `Fn::GetAtt` for the resources whose names are known, by logical id.
    """

    parameters: Mapping[str, Any]
    mappings: Mapping[str, Any]
    conditions: Mapping[str, Any]
    resources: Mapping[str, Any]
    attributes: Mapping[str, Mapping[str, str]]


NO_VALUE = object()
"""The value of `AWS::NoValue`: the property or list item that has it is left out."""


def resolve(value: Any, scope: Scope) -> Any:
    """Resolve every intrinsic function in a value.

    Raises:
        TemplateError: A function is unknown, a name does not exist, or its value is only known in AWS.
    """
    match value:
        case dict() if is_call(value):
            ((name, argument),) = value.items()
            return _call(name, argument, scope)
        case dict():
            resolved = {key: resolve(inner, scope) for key, inner in value.items()}
            return {key: inner for key, inner in resolved.items() if inner is not NO_VALUE}
        case list():
            return [inner for item in value if (inner := resolve(item, scope)) is not NO_VALUE]
        case _:
            return value


def is_call(value: Any) -> bool:
    """True if a value is a call of an intrinsic function."""
    name = next(iter(value), None) if isinstance(value, dict) and len(value) == 1 else None
    return isinstance(name, str) and (name in _FUNCTIONS or name.startswith("Fn::"))


def holds(condition: str, scope: Scope) -> bool:
    """True if a named condition holds.

    Raises:
        TemplateError: The template has no such condition, or its value is not a boolean.
    """
    if condition not in scope.conditions:
        raise TemplateError(
            f"There is no condition {condition!r}; the template has: {_comma_separated(scope.conditions)}."
        )
    return _checked_boolean(resolve(scope.conditions[condition], scope))


def _call(name: str, argument: Any, scope: Scope) -> Any:
    function = _FUNCTIONS.get(name)
    if function is None:
        raise TemplateError(
            f"{name} is not supported here; supported are {_comma_separated(_FUNCTIONS)}."
            " Write the value as a parameter and give it with --parameter NAME=VALUE."
        )
    try:
        return function(argument, scope)
    except TemplateError:
        raise
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError) as error:
        raise TemplateError(f"{name} cannot be used with {argument!r:.300} ({error}).") from error


def _ref(name: str, scope: Scope) -> Any:
    if name == "AWS::NoValue":
        return NO_VALUE
    if scope.parameters.get(name) is NOT_HERE:
        raise MissingValue(name)
    if name in scope.parameters:
        return scope.parameters[name]
    return _attribute(name, "Ref", scope)


def _get_att(argument: Any, scope: Scope) -> Any:
    resource, attribute = argument.split(".", 1) if isinstance(argument, str) else argument
    return _attribute(resource, attribute, scope)


def _attribute(resource: str, attribute: str, scope: Scope) -> str:
    shown = f"Ref {resource}" if attribute == "Ref" else f"GetAtt {resource}.{attribute}"
    if resource not in scope.resources:
        raise TemplateError(
            f"{shown}: there is no such resource or parameter; the template has:"
            f" {_comma_separated([*scope.resources, *scope.parameters])}."
        )
    available = scope.attributes.get(resource, {})
    if attribute not in available:
        kind = scope.resources[resource].get("Type", "a resource without a Type")
        raise TemplateError(
            f"{shown}: here there is no such value of {kind}; there is {_comma_separated(available)}."
            " If it is for an environment variable, set that with --env NAME=VALUE."
        )
    return available[attribute]


def _sub(argument: Any, scope: Scope) -> str:
    text, given = (argument, {}) if isinstance(argument, str) else argument
    names = {name: resolve(value, scope) for name, value in given.items()}

    def value_of(match: re.Match[str]) -> str:
        name = match[1].strip()
        if name.startswith("!"):
            return "${" + name[1:] + "}"
        if name in names:
            return as_text(names[name])
        return as_text(_get_att(name, scope) if "." in name else _ref(name, scope))

    return re.sub(r"\$\{([^}]+)\}", value_of, text)


def _find_in_map(argument: Any, scope: Scope) -> Any:
    table, row, column = (resolve(part, scope) for part in argument)
    return resolve(_by_text(_by_text(scope.mappings[table])[as_text(row)])[as_text(column)], scope)


def _by_text(table: Mapping[Any, Any]) -> dict[str, Any]:
    """Convert the keys to text as CloudFormation does: YAML's 10 and "10" are the same key."""
    return {as_text(key): value for key, value in table.items()}


def _if(argument: Any, scope: Scope) -> Any:
    condition, then, otherwise = argument
    return resolve(then if holds(condition, scope) else otherwise, scope)


def _equals(argument: Any, scope: Scope) -> bool:
    left, right = (as_text(resolve(side, scope)) for side in argument)
    return left == right


def _join(argument: Any, scope: Scope) -> str:
    separator, parts = argument
    return str(separator).join(as_text(part) for part in resolve(parts, scope))


def _select(argument: Any, scope: Scope) -> Any:
    index, choices = argument
    return resolve(choices, scope)[int(resolve(index, scope))]


def _split(argument: Any, scope: Scope) -> list[str]:
    separator, text = argument
    return as_text(resolve(text, scope)).split(separator)


def _checked_boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TemplateError(f"A condition is made of Fn::Equals, And, Or, Not and Condition; this one gives {value!r}.")
    return value


def _comma_separated(names: Any) -> str:
    return ", ".join(sorted(names)) or "none"


_FUNCTIONS: Mapping[str, Callable[[Any, Scope], Any]] = {
    "Ref": _ref,
    "Condition": holds,
    "Fn::GetAtt": _get_att,
    "Fn::Sub": _sub,
    "Fn::FindInMap": _find_in_map,
    "Fn::If": _if,
    "Fn::Equals": _equals,
    "Fn::And": lambda parts, scope: all(_checked_boolean(resolve(part, scope)) for part in parts),
    "Fn::Or": lambda parts, scope: any(_checked_boolean(resolve(part, scope)) for part in parts),
    "Fn::Not": lambda part, scope: not _checked_boolean(resolve(part[0], scope)),
    "Fn::Join": _join,
    "Fn::Select": _select,
    "Fn::Split": _split,
    "Fn::Length": lambda items, scope: len(resolve(items, scope)),
    "Fn::ToJsonString": lambda value, scope: json.dumps(resolve(value, scope)),
}


LOOP = "Fn::ForEach::"
INCLUDE = "Fn::Transform"
_TRANSFORM = "AWS::LanguageExtensions"


def expand_section(section: Mapping[str, Any], scope: Scope) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return a section with what its loops make in their places, and a note on each loop or include that cannot be expanded."""
    expanded: dict[str, Any] = {}
    notes: list[str] = []
    for name, value in section.items():
        if name == INCLUDE:
            notes.append(f"{name} is not expanded here, and what it brings is not read")
            continue
        try:
            expanded |= _expand({name: value}, scope)
        except TemplateError as error:
            if not str(name).startswith(LOOP):
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
    own = isinstance(value, dict) and any(str(key).startswith(LOOP) for key in value)
    return own or any(_has_loop(each) for each in inner)


def _expand(value: Any, scope: Scope) -> Any:
    match value:
        case dict():
            expanded: dict[Any, Any] = {}
            for key, inner in value.items():
                expanded |= _loop(inner, scope) if str(key).startswith(LOOP) else {key: _expand(inner, scope)}
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
