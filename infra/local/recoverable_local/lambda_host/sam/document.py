"""Parse the YAML or JSON of a template, including CloudFormation's short forms."""

from __future__ import annotations

from typing import Any

import yaml


class TemplateError(ValueError):
    """The local host cannot run the template; the message says where it fails and what to write instead."""


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
