"""The text of a template → its document, CloudFormation's short forms included; knows nothing of what stands in it."""

from __future__ import annotations

from typing import Any

import yaml


class TemplateError(ValueError):
    """The template says something the local host cannot follow; the message says where and what to write instead."""


def load(text: str) -> dict[str, Any]:
    """Read a template's YAML or JSON, its short forms (`!Ref X`) as the long ones (`{"Ref": "X"}`).

    Raises:
        TemplateError: The text is no YAML, or no mapping at the top.
    """
    try:
        document = yaml.load(text, Loader=_Loader)  # noqa: S506 (a SafeLoader with CloudFormation's tags)
    except yaml.YAMLError as error:
        raise TemplateError(f"The template is not valid YAML: {error}") from error
    if not isinstance(document, dict):
        raise TemplateError(f"A template is a mapping with the section Resources; this one is {document!r:.80}.")
    return document


def as_text(value: Any) -> str:
    """A plain value as CloudFormation writes it into a string: `true`, `1`, `text`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


class _Loader(yaml.SafeLoader):
    """A SafeLoader of its own, so that the short forms stay out of everybody else's."""


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
