"""Parse the YAML or JSON of a template, including short forms, and the values of its parameters."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from recoverable_operate.rules._rule import Refused, Unknown

if TYPE_CHECKING:
    from yaml import Node, SafeLoader


T = TypeVar("T")

NOT_HERE = object()
"""The value of a parameter that has none before the template is deployed, such as one that AWS reads from SSM."""


class TemplateError(ValueError):
    """Raised when a template cannot be read; its text says where it fails and what to write instead."""


class MissingValue(TemplateError):
    """Raised for a parameter that has no value here, and that what is read needs."""

    def __init__(self, name: str) -> None:
        super().__init__(f"The parameter {name} has no value here; give it with --parameter {name}=VALUE.")
        self.name = name


class RefusedValue(TemplateError):
    """Raised for a value that the cloud refuses; its text says what it is, and behind a semicolon what to write instead."""


def maybe(read: Callable[[], T]) -> T | Unknown:
    """Return what a function reads of a template, or why it cannot."""
    try:
        return read()
    except RefusedValue as error:
        return Refused(str(error))
    except TemplateError as error:
        return Unknown(str(error).rstrip("."))


def parse_document(text: str) -> dict[str, Any]:
    """Parse a template's YAML or JSON. Short forms (`!Ref X`) become long ones (`{"Ref": "X"}`).

    Raises:
        TemplateError: The text is no YAML, or not a mapping at the top level.
    """
    import yaml  # noqa: PLC0415  # of the extra `check`

    try:
        document = yaml.load(text, Loader=_loader())  # noqa: S506 (a SafeLoader with CloudFormation's tags)
        measure(document)
    except yaml.YAMLError as error:
        raise TemplateError(f"The template is not valid YAML: {' '.join(str(error).split())}") from error
    except TemplateError:
        raise
    except (RecursionError, ValueError, TypeError, AttributeError) as error:
        raise TemplateError(f"The template cannot be read: {str(error) or type(error).__name__}") from error
    if not isinstance(document, dict):
        raise TemplateError(f"A template is a mapping with the section Resources; this one is {document!r:.80}.")
    return document


def compose(text: str) -> Node | None:
    """Return a template's nodes, which know their lines, of a text that `parse_document` takes."""
    import yaml  # noqa: PLC0415  # of the extra `check`

    return yaml.compose(text, Loader=_loader())


MOST_VALUES, MOST_NESTED = 1_000_000, 200
"""How many values a template has at most, each alias counted as often as it is used, and how deep they are nested."""


def measure(document: Any) -> None:
    """Refuse a document that contains itself, or that is too deep or too large to be walked.

    Raises:
        TemplateError: it is.
    """
    sizes: dict[int, tuple[int, int]] = {}  # of what was measured: values and depth; aliases are one object
    waiting = [(document, False)]
    open_: set[int] = set()
    while waiting:
        value, is_left = waiting.pop()
        if id(value) in sizes or not isinstance(value, dict | list):
            continue
        inner = list(value.values() if isinstance(value, dict) else value)
        if is_left:
            open_.discard(id(value))
            found = [sizes.get(id(each), (1, 0)) for each in inner]
            sizes[id(value)] = 1 + sum(size for size, _ in found), 1 + max((depth for _, depth in found), default=0)
            continue
        if id(value) in open_:
            raise TemplateError("The template contains itself: an alias is inside of what its anchor names.")
        open_.add(id(value))
        waiting += [(value, True), *((each, False) for each in inner)]
    size, depth = sizes.get(id(document), (1, 0))
    if size > MOST_VALUES or depth > MOST_NESTED:
        raise TemplateError(
            f"The template is too large to be read: more than {MOST_VALUES:,} values, or {MOST_NESTED} levels."
        )


def section(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a section of a template; an empty one if there is none.

    Raises:
        TemplateError: It is no mapping.
    """
    found = document.get(name)
    if found is not None and not isinstance(found, dict):
        raise TemplateError(f"The section {name} is {found!r:.80}; write a mapping.")
    return found or {}


def resources_of(found: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the section `Resources` as resources by their logical ids.

    Raises:
        TemplateError: One of them is no resource.
    """
    for name, resource in found.items():
        if not isinstance(resource, dict) or not isinstance(resource.get("Type"), str):
            raise TemplateError(
                f"The resource {name} is {resource!r:.80}; write a mapping with a Type, such as AWS::SQS::Queue."
            )
        if not isinstance(resource.get("Properties") or {}, dict):
            raise TemplateError(f"The Properties of {name} are {resource['Properties']!r:.80}; write a mapping.")
    return {str(name): resource for name, resource in found.items()}


def as_text(value: Any) -> str:
    """Convert a scalar to text as CloudFormation does: `true`, `1`, `text`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@cache
def _loader() -> type[SafeLoader]:
    """Return a loader that knows the short forms: a class of its own, so that they are not added to `yaml.SafeLoader`."""
    import yaml  # noqa: PLC0415  # of the extra `check`

    class Loader(yaml.SafeLoader):
        pass

    def long_form(loader: SafeLoader, name: str, node: Node) -> dict[str, Any]:
        match node:
            case yaml.ScalarNode():
                argument: Any = loader.construct_scalar(node)
            case yaml.SequenceNode():
                argument = loader.construct_sequence(node, deep=True)
            case _:
                argument = loader.construct_mapping(node, deep=True) if isinstance(node, yaml.MappingNode) else None
        return {name if name in {"Ref", "Condition"} else f"Fn::{name}": argument}

    Loader.add_multi_constructor("!", long_form)
    Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda _, node: str(node.value))
    return Loader


def parse_parameters(declared: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    """Return the value of every declared parameter.

    Args:
        declared: The template's section `Parameters`.
        given: Values by name.

    Raises:
        TemplateError: A name is not declared, a parameter has no value, or a value is not allowed. A parameter whose value is in SSM
            is `NOT_HERE`, which is refused where it is used.
    """
    for name in given:
        if name not in declared:
            raise TemplateError(f"There is no parameter {name!r}; the template has: {', '.join(declared) or 'none'}.")
    return {name: _value(name, declaration, given.get(name)) for name, declaration in declared.items()}


def parse_known_parameters(declared: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    """Return the value of every declared parameter; `NOT_HERE` for one that is not given and has no value that is allowed.

    Raises:
        TemplateError: A given name is not declared, or its value is not allowed.
    """
    values = parse_parameters({name: declared[name] for name in given if name in declared}, given)
    for name in declared.keys() - given.keys():
        value = maybe(lambda name=name: parse_parameters({name: declared[name]}, {})[name])  # type: ignore[misc]
        values[name] = NOT_HERE if isinstance(value, Unknown) else value
    return values


def _value(name: str, declaration: Any, given: str | None) -> Any:
    if not isinstance(declaration, dict):
        raise TemplateError(
            f"The parameter {name} is {declaration!r:.80}; write a mapping with a Type, such as String."
        )
    kind = str(declaration.get("Type", "String"))
    value = declaration.get("Default") if given is None else given
    if given is None and kind.startswith("AWS::SSM::"):
        return NOT_HERE
    if value is None:
        raise MissingValue(name)
    text = as_text(value)
    _check(name, text, declaration)
    return text.split(",") if "List" in kind else text


def _check(name: str, text: str, declaration: Mapping[str, Any]) -> None:
    allowed = [as_text(choice) for choice in declaration.get("AllowedValues") or [text]]
    if text not in allowed:
        raise TemplateError(f"The parameter {name} is {text!r}; the template allows {', '.join(allowed)}.")
    if not re.fullmatch(declaration.get("AllowedPattern", ".*"), text, re.DOTALL):
        raise TemplateError(f"The parameter {name} is {text!r}; the template wants {declaration['AllowedPattern']}.")
    if declaration.get("Type") == "Number":
        _check_number(name, text, declaration.get("MinValue", "-inf"), declaration.get("MaxValue", "inf"))


def _check_number(name: str, text: str, minimum: Any, maximum: Any) -> None:
    try:
        within = float(minimum) <= float(text) <= float(maximum)
    except ValueError:
        within = False
    if not within:
        raise TemplateError(
            f"The parameter {name} is {text!r}; the template wants a number from {minimum} to {maximum}."
        )


def name_and_value(text: str) -> tuple[str, str]:
    """Split NAME=VALUE, as a command line gives parameters.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is no NAME=VALUE")
    return name, value
