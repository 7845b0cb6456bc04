"""Parse the YAML or JSON of a template, including CloudFormation's short forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml


class TemplateError(ValueError):
    """The template cannot be read; the message says where it fails and what to write instead."""


def parse_document(text: str) -> dict[str, Any]:
    """Parse a template's YAML or JSON. Short forms (`!Ref X`) become long ones (`{"Ref": "X"}`).

    Raises:
        TemplateError: The text is no YAML, or not a mapping at the top level.
    """
    try:
        document = yaml.load(text, Loader=_Loader)  # noqa: S506 (a SafeLoader with CloudFormation's tags)
    except yaml.YAMLError as error:
        raise TemplateError(f"The template is not valid YAML: {error}") from error
    if not isinstance(document, dict):
        raise TemplateError(f"A template is a mapping with the section Resources; this one is {document!r:.80}.")
    return document


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
    return dict(found)


def as_text(value: Any) -> str:
    """Convert a scalar to text as CloudFormation does: `true`, `1`, `text`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


class _Loader(yaml.SafeLoader):
    """A subclass, so that the short forms are not added to `yaml.SafeLoader` itself."""


def _long_form(loader: yaml.SafeLoader, name: str, node: yaml.Node) -> dict[str, Any]:
    match node:
        case yaml.ScalarNode():
            argument: Any = loader.construct_scalar(node)
        case yaml.SequenceNode():
            argument = loader.construct_sequence(node, deep=True)
        case _:
            argument = loader.construct_mapping(node, deep=True) if isinstance(node, yaml.MappingNode) else None
    return {name if name in {"Ref", "Condition"} else f"Fn::{name}": argument}


_Loader.add_multi_constructor("!", _long_form)
