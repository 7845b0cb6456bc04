"""Read single values leniently, and give the resources of a template the names and ARNs by which they refer to one another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from recoverable_operate.check.cloudformation.document import TemplateError, as_text
from recoverable_operate.check.cloudformation.intrinsics import Scope, holds
from recoverable_operate.check.cloudformation.properties import Properties
from recoverable_operate.check.known import Unknown

T = TypeVar("T")

QUEUE = "AWS::SQS::Queue"
FUNCTIONS = ("AWS::Serverless::Function", "AWS::Lambda::Function")
NAMES = {QUEUE: "QueueName", **dict.fromkeys(FUNCTIONS, "FunctionName")}
"""The property that holds the name of a resource, of those that others refer to by name."""

RESOURCE_PARTS = {"AWS::KMS::Key": "key/", **dict.fromkeys(FUNCTIONS, "function:")}
"""What stands before the name in an ARN."""


def maybe(read: Callable[[], T]) -> T | Unknown:
    """Return what a function reads of a template, or why it cannot."""
    try:
        return read()
    except TemplateError as error:
        return Unknown(str(error).rstrip("."))


def with_names(scope: Scope) -> Scope:
    """Return the scope with a `Ref` and an `Arn` of each resource, as good as they are known before deployment."""
    named = replace(scope, attributes={name: {"Ref": name} for name in scope.resources})
    return replace(scope, attributes={name: attributes(name, each, named) for name, each in scope.resources.items()})


def attributes(logical_id: str, resource: Mapping[str, Any], scope: Scope) -> dict[str, str]:
    """Return what a resource is referred to by."""
    kind = resource["Type"]
    name = name_of(Properties(logical_id, resource.get("Properties") or {}, scope), kind)
    region, account = (as_text(scope.parameters[f"AWS::{each}"]) for each in ("Region", "AccountId"))
    service = "lambda" if kind in FUNCTIONS else kind.split("::")[1].lower() if "::" in kind else kind.lower()
    arn = f"arn:aws:{service}:{region}:{account}:{RESOURCE_PARTS.get(kind, '')}{name}"
    if kind == QUEUE:
        url = f"https://sqs.{region}.amazonaws.com/{account}/{name}"
        return {"Ref": url, "Arn": arn, "QueueName": name, "QueueUrl": url}
    return {"Ref": arn if kind == "AWS::IAM::ManagedPolicy" else name, "Arn": arn}


def name_of(properties: Properties, kind: str) -> str:
    """Return the name of a resource; its logical id where the template says none, or none that is known."""
    ending = ".fifo" if kind == QUEUE and maybe(lambda: properties.flag("FifoQueue", default=False)) is True else ""
    with suppress(TemplateError):
        return properties.text(NAMES.get(kind, ""), properties.where + ending)
    return properties.where + ending


def resources(scope: Scope, *kinds: str) -> Iterator[Properties]:
    """Yield the resources of these types that would be deployed; those of a condition that is not known too."""
    for logical_id, resource in scope.resources.items():
        if resource["Type"] in kinds and is_deployed(resource, scope):
            yield Properties(logical_id, resource.get("Properties") or {}, scope)


def is_deployed(resource: Mapping[str, Any], scope: Scope) -> bool:
    """True unless the resource has a condition that does not hold."""
    return "Condition" not in resource or maybe(lambda: holds(str(resource["Condition"]), scope)) is not False


def listed(value: Any) -> list[Any]:
    """Return a list, where a template takes one thing or a list of them."""
    return value if isinstance(value, list) else [] if value is None else [value]
