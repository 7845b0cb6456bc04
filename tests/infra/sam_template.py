"""The repository's template.yaml as data: read, transformed as CloudFormation would, and its values under given parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

from servers.ministack import REGION

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "template.yaml"

Template = dict[str, Any]
Parameters = Mapping[str, Any]


class NoManagedPolicies:
    """The source of AWS's own policies for the transform; this template names none."""

    def load(self) -> dict[str, str]:
        return {}


def template() -> Template:
    """Return the template, `!Ref X` read as `{"Ref": "X"}`."""
    return deepcopy(parsed())


@cache
def parsed() -> Template:
    """Return the template that all copies are made of, since a dozen modules read it."""
    template: Template = yaml_parse(TEMPLATE.read_text())
    return template


def transformed(source: Template, *, layer: str = "s3://code/layer", function: str = "s3://code/function") -> Template:
    """Return plain CloudFormation, as AWS makes it from a SAM template.

    Args:
        source: the template.
        layer: where `sam package` would have uploaded the layer.
        function: where it would have uploaded the functions' code.
    """
    uploaded = deepcopy(source)
    for name in {"RecoverableLayer", "OperateLayer"} & uploaded["Resources"].keys():
        uploaded["Resources"][name]["Properties"]["ContentUri"] = layer
    uploaded["Globals"]["Function"]["CodeUri"] = function
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_DEFAULT_REGION", REGION)
        result: Template = transform(uploaded, {}, NoManagedPolicies())
    return result


def complaints(source: Template) -> list[str]:
    """Return what cfn-lint finds, warnings included, once the transform has made resources of what stands under `Events`."""
    from cfnlint import api  # which loads for seconds, and few tests need it

    found = api.lint(json.dumps(transformed(source)), config={"regions": [REGION]})
    return [f"{match.rule.id} {'/'.join(map(str, match.path))}" for match in found]


def bounds(source: Template, name: str) -> tuple[Any, ...]:
    """Return what a parameter allows: each value of a choice, both ends of a range."""
    parameter = source["Parameters"][name]
    return tuple(parameter.get("AllowedValues") or (parameter["MinValue"], parameter["MaxValue"]))


def corners(source: Template, *names: str) -> list[dict[str, Any]]:
    """Return each combination of the bounds of some parameters."""
    choices = (bounds(source, name) for name in names)
    return [dict(zip(names, values, strict=True)) for values in product(*choices)]


def substituted(text: str, parameters: Parameters) -> str | dict[str, str]:
    """Return a text for `Fn::Sub` with some parameters' values in it; the text alone when nothing else is to be filled in."""
    for name, value in parameters.items():
        text = text.replace(f"${{{name}}}", str(value))
    return {"Fn::Sub": text} if "${" in text else text


def filled_in(source: Template, parameters: Parameters) -> Template:
    """Return the template with some parameters' values in place of the references to them."""

    def written(node: Any) -> Any:
        match node:
            case {"Ref": str(name)} if name in parameters:
                return parameters[name]
            case {"Fn::Sub": str(text)}:
                return substituted(text, parameters)
            case dict():
                return {key: written(inner) for key, inner in node.items()}
            case list():
                return [written(inner) for inner in node]
            case _:
                return node

    others = {name: kept for name, kept in source["Parameters"].items() if name not in parameters}
    return {**written(source), "Parameters": others}


def value(source: Template, parameters: Parameters, resource: str, *path: str) -> Any:
    """Return a resource's property, with its parameters and mappings looked up.

    Args:
        source: the template.
        parameters: the value of each parameter that the property depends on.
        resource: the resource's logical id.
        path: the keys that lead from the resource's properties to the value.
    """
    node = source["Resources"][resource]["Properties"]
    for key in path:
        node = node[key]
    match node:
        case {"Ref": name}:
            return parameters[name]
        case {"Fn::FindInMap": [table, {"Ref": name}, column]}:
            return source["Mappings"][table][str(parameters[name])][column]
        case {"Fn::Sub": str(text)}:
            return substituted(text, parameters)
        case _:
            return node
