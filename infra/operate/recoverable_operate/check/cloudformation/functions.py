"""Read the Lambda functions of a template, and the event source mappings that read queues for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from recoverable_operate.check.cloudformation.document import TemplateError, as_text, section
from recoverable_operate.check.cloudformation.intrinsics import Scope
from recoverable_operate.check.cloudformation.policies import permissions_of
from recoverable_operate.check.cloudformation.properties import Properties
from recoverable_operate.check.cloudformation.reading import FUNCTIONS, listed, maybe, resources
from recoverable_operate.check.known import Unknown
from recoverable_operate.check.sqs import REPORT, EventSource, Function

SAM, PLAIN = FUNCTIONS
MAPPING = "AWS::Lambda::EventSourceMapping"
LONGEST_TIMEOUT = 5_400  # seconds; of Lambda Managed Instances, 900 elsewhere (Lambda quotas)
LARGEST_BATCH = 10_000


@dataclass(frozen=True, slots=True)
class Trigger:
    """A mapping with its function and the ARN of the queue that it reads."""

    function: Function
    source: EventSource
    queue: str | Unknown


def triggers_of(document: Mapping[str, Any], scope: Scope) -> Iterator[Trigger]:
    """Yield the triggers of a template that read SQS queues."""
    shared = section(section(document, "Globals"), "Function")
    for sam in resources(scope, SAM):
        function = replace(sam, values=with_globals(sam.values, shared))
        yield from (Trigger(function_of(function), *each) for each in sources_of_events(function))
    plain = {scope.attributes[each.where]["Ref"]: each for each in resources(scope, *FUNCTIONS)}
    for mapping in resources(scope, MAPPING):
        arn = maybe(lambda mapping=mapping: mapping.text("EventSourceArn", ""))  # type: ignore[misc]
        name = maybe(lambda mapping=mapping: function_name(mapping))  # type: ignore[misc]
        found = plain.get(name) if isinstance(name, str) else None
        if found is not None and is_sqs(arn):
            yield Trigger(function_of(found), source_of(mapping), arn)


def is_sqs(arn: str | Unknown) -> bool:
    """True if an event source may be an SQS queue."""
    return isinstance(arn, Unknown) or arn.split(":")[2:3] == ["sqs"]


def function_name(mapping: Properties) -> str:
    """Return the name of a mapping's function, without version or alias."""
    text = mapping.text("FunctionName", "")
    return text.split(":function:")[-1].split(":")[0]


def sources_of_events(function: Properties) -> Iterator[tuple[EventSource, str | Unknown]]:
    """Yield the `Events` of type SQS of a SAM function, each with the queue's ARN."""
    for name, event in function.part("Events").values.items():
        if isinstance(event, dict) and event.get("Type") == "SQS":
            properties = Properties(f"{function.where}.{name}", event.get("Properties") or {}, function.scope)
            yield (
                source_of(properties),
                maybe(
                    lambda properties=properties: properties.required("Queue", "!GetAtt Orders.Arn")  # type: ignore[misc]
                ),
            )


def source_of(properties: Properties) -> EventSource:
    """Return a mapping, written as an event of SAM or as a resource."""
    window = "MaximumBatchingWindowInSeconds"
    return EventSource(
        name=properties.where,
        partial_responses=maybe(lambda: REPORT in listed(properties.get("FunctionResponseTypes"))),
        batch_size=maybe(lambda: properties.number("BatchSize", 10, minimum=1, maximum=LARGEST_BATCH)),
        window=maybe(lambda: timedelta(seconds=properties.number(window, 0, maximum=300))),
        max_concurrency=maybe(lambda: max_concurrency(properties)),
    )


def max_concurrency(properties: Properties) -> int | None:
    """Return the most invocations of a mapping at a time; None for no limit of its own.

    Raises:
        TemplateError: it has pollers of its own, which limit it in another way.
    """
    if properties.get("ProvisionedPollerConfig"):
        raise TemplateError(
            f"{properties.where} has provisioned pollers, whose number says how many invocations it makes"
        )
    return optional(properties.part("ScalingConfig"), "MaximumConcurrency")


def function_of(properties: Properties) -> Function:
    """Return a function, with what its role may do."""
    return Function(
        name=properties.where,
        timeout=maybe(lambda: timedelta(seconds=properties.number("Timeout", 3, minimum=1, maximum=LONGEST_TIMEOUT))),
        recursive_loop=maybe(lambda: properties.text("RecursiveLoop", "Terminate") == "Allow"),
        reserved_concurrency=maybe(lambda: optional(properties, "ReservedConcurrentExecutions")),
        variables=maybe(lambda: variables_of(properties)),
        permissions=maybe(lambda: permissions_of(properties)),
    )


def variables_of(properties: Properties) -> Mapping[str, str | Unknown]:
    """Return the environment variables of a function."""
    variables = properties.part("Environment").part("Variables")
    values = {name: maybe(lambda name=name: variables.get(name)) for name in variables.values}  # type: ignore[misc]
    return {
        name: value if isinstance(value, Unknown) else as_text(value)
        for name, value in values.items()
        if value is not None
    }


def optional(properties: Properties, name: str) -> int | None:
    """Return a number; None where there is none."""
    return None if properties.get(name) is None else properties.number(name, 0, maximum=1_000_000)


def with_globals(own: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """Merge a function's properties over those of `Globals`: merge mappings, join lists, replace the rest."""
    merged = dict(shared)
    for name, value in own.items():
        match shared.get(name), value:
            case dict() as before, dict():
                merged[name] = with_globals(value, before)
            case list() as before, list():
                merged[name] = [*before, *value]
            case _:
                merged[name] = value
    return merged
