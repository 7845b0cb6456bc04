"""Read `AWS::Lambda::Function` and `AWS::Lambda::EventSourceMapping`, which CDK writes too, as the SAM resources that they amount to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from recoverable.operate.check.cloudformation.document import TemplateError
from recoverable.operate.check.cloudformation.properties import Properties

PLAIN_FUNCTION = "AWS::Lambda::Function"
PLAIN_LAYER = "AWS::Lambda::LayerVersion"
PLAIN_MAPPING = "AWS::Lambda::EventSourceMapping"
_OF_THE_MAPPING_ALONE = {"EventSourceArn", "FunctionName", "Tags"}
_ASSET = "aws:asset:path"


def as_serverless(resource: Mapping[str, Any], properties: Properties) -> Properties:
    """Return a function's properties with `CodeUri` in place of `Code`: the folder that it names, or CDK's folder for it."""
    code = local_folder(resource, "Code") or properties.values.get("Code")
    return replace(properties, values={**properties.values, "CodeUri": code})


def local_folder(resource: Mapping[str, Any], name: str) -> Any:
    """Return the folder of a function's `Code` or a layer's `Content`: what a text names, else CDK's asset; None if there is none."""
    given = (resource.get("Properties") or {}).get(name)
    return given if isinstance(given, str) else (resource.get("Metadata") or {}).get(_ASSET)


def as_event(properties: Properties) -> Properties:
    """Return a mapping's properties as those of an event of type SQS."""
    own = {name: value for name, value in properties.values.items() if name not in _OF_THE_MAPPING_ALONE}
    return replace(properties, values={**own, "Queue": properties.values.get("EventSourceArn")})


def function_of(properties: Properties, functions: Mapping[str, Mapping[str, str]]) -> str | None:
    """Return the logical id of the function that a mapping invokes, by name or ARN; None if it is none of the template's."""
    try:
        wanted = properties.required("FunctionName", "!Ref OrdersFunction")
    except TemplateError:
        return None
    return next((key for key, names in functions.items() if wanted in names.values()), None)
