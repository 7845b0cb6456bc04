"""Read single properties of resources, and give resources the names and ARNs by which they refer to one another."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from recoverable_operate.rules._rule import Unknown
from recoverable_operate.templates._document import RefusedValue, TemplateError, as_text, maybe
from recoverable_operate.templates._intrinsics import Scope, holds, is_call, resolve

QUEUE = "AWS::SQS::Queue"

ASSUMED = "Recoverable:"
"""How the logical id begins of a queue that stands for one of another stack."""

FUNCTIONS = ("AWS::Serverless::Function", "AWS::Lambda::Function")

NAMES = {QUEUE: "QueueName", **dict.fromkeys(FUNCTIONS, "FunctionName")}
"""The property that holds the name of a resource, of those that others refer to by name."""

RESOURCE_PARTS = {"AWS::KMS::Key": "key/", **dict.fromkeys(FUNCTIONS, "function:")}
"""The part of an ARN before the name."""


@dataclass(frozen=True, slots=True)
class Properties:
    """The properties of one resource or of one part of it, each resolved when it is read.

    A property that is never read may hold anything, including unsupported intrinsic functions. A property that it reads and
    does not accept raises a TemplateError, which names its place.

    Args:
        where: The place as errors name it, such as `Orders` or `Orders.Events.Queue`.
        values: The properties, unresolved.
        scope: Resolves the names in them.
    """

    where: str
    values: Mapping[str, Any]
    scope: Scope

    def get(self, name: str, default: Any = None) -> Any:
        """Return a property with its intrinsic functions resolved."""
        try:
            resolved = resolve({name: self._written(name)}, self.scope).get(name)
        except TemplateError as error:
            raise TemplateError(f"{self.where}.{name}: {error}") from error
        return default if resolved is None else resolved

    def part(self, name: str) -> Properties:
        """Return a property that holds properties; empty if the template has none."""
        values = self._written(name)
        if is_call(values):
            values = self.get(name)
        if not isinstance(values, dict | None):
            raise TemplateError(f"{self.where}.{name} is {values!r}; it must be a mapping.")
        return Properties(f"{self.where}.{name}", values or {}, self.scope)

    def json_part(self, name: str) -> Properties:
        """Return a property that holds properties, which CloudFormation takes as a mapping and as JSON in a text."""
        text = self.get(name)
        if not isinstance(text, str):
            return self.part(name)
        try:
            return Properties(self.where, {name: json.loads(text)}, self.scope).part(name)
        except ValueError as error:
            raise TemplateError(f"{self.where}.{name} is {text!r:.80}, which is no JSON ({error}).") from error

    def _written(self, name: str) -> Any:
        """Return a property as it is written."""
        if not isinstance(self.values, dict):
            raise TemplateError(f"{self.where} is {self.values!r:.80}; it must be a mapping.")
        return self.values.get(name)

    def refuse_unknown(self, allowed: Collection[str], *, of: str) -> None:
        """Raise a TemplateError for a property that AWS does not have."""
        for name in sorted(set(self.values) - set(allowed)):
            raise TemplateError(f"{self.where}.{name} is no property of {of}; there are {', '.join(sorted(allowed))}.")

    def text(self, name: str, default: str) -> str:
        """Return a property that is a string."""
        return as_text(self.get(name, default))

    def required(self, name: str, example: str) -> str:
        """Return a string property that is required. The error for a missing one shows the example."""
        value = self.get(name)
        if value is None:
            raise TemplateError(f"{self.where} has no {name}; write for instance `{name}: {example}`.")
        return as_text(value)

    def number(self, name: str, default: int, *, minimum: int = 0, maximum: int) -> int:
        """Return a property that is a whole number within these bounds."""
        value = as_text(self.get(name, default))
        if not value.isascii() or not value.isdigit() or not minimum <= int(value) <= maximum:
            raise RefusedValue(f"{self.where}.{name} is {value!r}; write a whole number from {minimum} to {maximum}")
        return int(value)

    def flag(self, name: str, *, default: bool) -> bool:
        """Return a property that is true or false."""
        value = as_text(self.get(name, default)).lower()
        if value not in {"true", "false"}:
            raise TemplateError(f"{self.where}.{name} is {value!r}; it must be true or false.")
        return value == "true"


def with_names(scope: Scope, stack: str = "") -> Scope:
    """Return the scope with a `Ref` and an `Arn` of each resource, as good as they are known before deployment.

    Args:
        scope: of a template.
        stack: how the names begin of resources that the template does not name.
    """
    named = replace(scope, attributes={name: {"Ref": name} for name in scope.resources})
    return replace(
        scope, attributes={name: attributes(name, each, named, stack) for name, each in scope.resources.items()}
    )


def attributes(logical_id: str, resource: Mapping[str, Any], scope: Scope, stack: str) -> dict[str, str]:
    """Return what a resource is referred to by."""
    kind = resource["Type"]
    name = name_of(Properties(logical_id, resource.get("Properties") or {}, scope), kind, stack)
    region, account = (as_text(scope.parameters[f"AWS::{each}"]) for each in ("Region", "AccountId"))
    service = "lambda" if kind in FUNCTIONS else kind.split("::")[1].lower() if "::" in kind else kind.lower()
    arn = f"arn:aws:{service}:{region}:{account}:{RESOURCE_PARTS.get(kind, '')}{name}"
    if kind == QUEUE:
        url = f"https://sqs.{region}.amazonaws.com/{account}/{name}"
        return {"Ref": url, "Arn": arn, "QueueName": name, "QueueUrl": url}
    return {"Ref": arn if kind == "AWS::IAM::ManagedPolicy" else name, "Arn": arn}


def name_of(properties: Properties, kind: str, stack: str) -> str:
    """Return the name of a resource: its logical id where the template says none, in angle brackets where it is not known."""
    ending = ".fifo" if kind == QUEUE and maybe(lambda: properties.flag("FifoQueue", default=False)) is True else ""
    generated = stack + properties.where + ending
    name = maybe(lambda: properties.text(NAMES.get(kind, ""), generated))
    return f"<{generated}>" if isinstance(name, Unknown) else name


def resources(scope: Scope, *kinds: str, strict: bool = False) -> Iterator[Properties]:
    """Yield the resources of these types that would be deployed.

    Args:
        scope: the template's.
        kinds: such as `AWS::SQS::Queue`.
        strict: True to refuse a condition whose value is not known; else its resources are yielded too.

    Raises:
        TemplateError: a condition cannot be resolved.
    """
    for logical_id, resource in scope.resources.items():
        if resource["Type"] in kinds and is_deployed(resource, scope, strict=strict):
            yield Properties(logical_id, resource.get("Properties") or {}, scope)


def is_deployed(resource: Mapping[str, Any], scope: Scope, *, strict: bool) -> bool:
    """True unless the resource has a condition that does not hold."""
    if "Condition" not in resource:
        return True
    if strict:
        return holds(resource["Condition"], scope)
    return maybe(lambda: holds(str(resource["Condition"]), scope)) is not False


def listed(value: Any) -> list[Any]:
    """Return a list, where a template takes one thing or a list of them."""
    return value if isinstance(value, list) else [] if value is None else [value]
