"""Read CloudFormation's own functions, mappings, rules and schedules, which CDK writes too, as the SAM resources that they amount to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from recoverable_operate.templates import Properties, TemplateError

PLAIN_FUNCTION = "AWS::Lambda::Function"
PLAIN_LAYER = "AWS::Lambda::LayerVersion"
PLAIN_MAPPING = "AWS::Lambda::EventSourceMapping"
PLAIN_RULE = "AWS::Events::Rule"
PLAIN_SCHEDULE = "AWS::Scheduler::Schedule"
PLAIN_TRIGGERS = (PLAIN_MAPPING, PLAIN_RULE, PLAIN_SCHEDULE)
_OF_THE_MAPPING_ALONE = {"EventSourceArn", "FunctionName", "Tags"}
_ASSET = "aws:asset:path"

Names = Mapping[str, Mapping[str, str]]
"""The names and ARNs of the template's functions, by logical id."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """An event of SAM that invokes a function.

    Args:
        function: The function's logical id; None if it is not in the template.
        kind: The event's type: `SQS`, `Schedule`, `ScheduleV2`, or one that is not served.
        event: The event's properties.
    """

    function: str | None
    kind: str
    event: Properties


def triggers_of(kind: str, properties: Properties, functions: Names) -> Iterator[Trigger]:
    """Yield what a resource of one of the types `PLAIN_TRIGGERS` invokes."""
    if kind == PLAIN_MAPPING:
        yield Trigger(_function(properties, "FunctionName", functions), "SQS", _as_event(properties))
    elif kind == PLAIN_SCHEDULE:
        yield _schedule(properties, functions)
    else:
        yield from _targets(properties, functions)


def as_serverless(resource: Mapping[str, Any], properties: Properties) -> Properties:
    """Return a function's properties with `CodeUri` in place of `Code`: the folder that it names, or CDK's folder for it."""
    code = local_folder(resource, "Code") or properties.values.get("Code")
    return replace(properties, values={**properties.values, "CodeUri": code})


def local_folder(resource: Mapping[str, Any], name: str) -> Any:
    """Return the folder of a function's `Code` or a layer's `Content`: what a text names, else CDK's asset; None if there is none."""
    given = (resource.get("Properties") or {}).get(name)
    return given if isinstance(given, str) else (resource.get("Metadata") or {}).get(_ASSET)


def _schedule(properties: Properties, functions: Names) -> Trigger:
    """Return what a schedule of EventBridge Scheduler invokes."""
    target, values = properties.part("Target"), properties.values
    event = {
        "ScheduleExpression": values.get("ScheduleExpression"),
        "State": values.get("State", "ENABLED"),
        "Input": target.values.get("Input"),
    }
    return Trigger(_function(target, "Arn", functions), "ScheduleV2", replace(properties, values=event))


def _targets(properties: Properties, functions: Names) -> Iterator[Trigger]:
    """Yield what a rule of EventBridge invokes: by time, or by events, which nothing here sends."""
    when = properties.values.get("ScheduleExpression")
    kind = "EventBridgeRule" if when is None else "Schedule"
    for number, target in enumerate(properties.values.get("Targets") or []):
        part = Properties(f"{properties.where}.Targets.{number}", target, properties.scope)
        event = {"Schedule": when, "State": properties.values.get("State", "ENABLED"), "Input": target.get("Input")}
        yield Trigger(_function(part, "Arn", functions), kind, replace(properties, values=event))


def _as_event(properties: Properties) -> Properties:
    """Return a mapping's properties as those of an event of type SQS."""
    own = {name: value for name, value in properties.values.items() if name not in _OF_THE_MAPPING_ALONE}
    return replace(properties, values={**own, "Queue": properties.values.get("EventSourceArn")})


def _function(properties: Properties, name: str, functions: Names) -> str | None:
    """Return the logical id of the function that a property names, by name or ARN; None if it is not in the template."""
    try:
        wanted = properties.required(name, "!Ref OrdersFunction")
    except TemplateError:
        return None
    return next((key for key, names in functions.items() if wanted in names.values()), None)
