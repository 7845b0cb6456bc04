"""Read the functions of a template that read SQS queues, and the mappings by which they do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from recoverable_operate.rules._on_sqs import REPORT, EventSource
from recoverable_operate.rules._rule import Unknown
from recoverable_operate.templates._document import TemplateError, as_text, maybe, section
from recoverable_operate.templates._intrinsics import Scope
from recoverable_operate.templates._properties import ASSUMED, FUNCTIONS, QUEUE, Properties, listed, resources

SAM, PLAIN = FUNCTIONS

MAPPING = "AWS::Lambda::EventSourceMapping"

ALIASES = ("AWS::Lambda::Version", "AWS::Lambda::Alias")
"""Resources that stand for a function, and by which a mapping may name it."""

LARGEST_BATCH = 10_000
LEAST_CONCURRENCY, MOST_CONCURRENCY = 2, 1_000  # Lambda API reference, ScalingConfig


@dataclass(frozen=True, slots=True)
class Trigger:
    """A mapping with its function and the name of the queue that it reads."""

    function: Properties
    source: EventSource | Unknown
    queue: str | Unknown


def triggers_of(document: Mapping[str, Any], scope: Scope) -> Iterator[Trigger]:
    """Yield the triggers of a template that read SQS queues."""
    functions = {each.where: each for each in functions_of(document, scope)}
    for function in functions.values():
        if scope.resources[function.where]["Type"] == SAM:
            events = maybe(lambda function=function: list(sources_of_events(function)))  # type: ignore[misc]
            yield from (
                Trigger(function, *each) for each in ([(events, events)] if isinstance(events, Unknown) else events)
            )
    by_reference = {scope.attributes[name]["Ref"]: each for name, each in functions.items()}
    for alias in resources(scope, *ALIASES):
        name = maybe(lambda alias=alias: function_name(alias))  # type: ignore[misc]
        if isinstance(name, str) and name in by_reference:
            by_reference[scope.attributes[alias.where]["Ref"]] = by_reference[name]
    for mapping in resources(scope, MAPPING):
        arn = maybe(lambda mapping=mapping: mapping.text("EventSourceArn", ""))  # type: ignore[misc]
        name = maybe(lambda mapping=mapping: function_name(mapping))  # type: ignore[misc]
        read = by_reference.get(name) if isinstance(name, str) else None
        if read is not None and is_sqs(arn):
            yield Trigger(read, event_source_of(mapping), queue_name(arn, scope))


def functions_of(document: Mapping[str, Any], scope: Scope) -> Iterator[Properties]:
    """Yield the functions of a template; those of SAM with what `Globals` says."""
    shared = section(section(document, "Globals"), "Function")
    for function in resources(scope, *FUNCTIONS):
        is_sam = scope.resources[function.where]["Type"] == SAM
        yield replace(function, values=with_globals(function.values, shared)) if is_sam else function


def is_sqs(arn: str | Unknown) -> bool:
    """True if an event source may be an SQS queue."""
    return isinstance(arn, Unknown) or arn.split(":")[2:3] == ["sqs"]


def queue_name(address: str | Unknown, scope: Scope) -> str | Unknown:
    """Return the name of a queue, given by ARN, URL or name; Unknown for one of another account that has the name of one of the template's."""
    if isinstance(address, Unknown):
        return address
    name = address.rpartition("/")[2].rpartition(":")[2]
    theirs = [each for each in re.split(r"[:/.]+", address) if re.fullmatch(r"\d{12}|[a-z]{2}(-[a-z]+)+-\d", each)]
    own = {as_text(scope.parameters[f"AWS::{each}"]) for each in ("Region", "AccountId")}
    made = (each for each in resources(scope, QUEUE) if not each.where.startswith(ASSUMED))
    if set(theirs) <= own or name not in {scope.attributes[each.where]["QueueName"] for each in made}:
        return name
    return Unknown(
        f"whether {address} is the {name} of the template, or that of another account or region, is known in AWS alone"
    )


def function_name(mapping: Properties) -> str:
    """Return the name of a mapping's function, without version or alias."""
    text = mapping.text("FunctionName", "")
    return text.split(":function:")[-1].split(":")[0]


def sources_of_events(function: Properties) -> Iterator[tuple[EventSource, str | Unknown]]:
    """Yield the `Events` by which a SAM function reads queues, each with the queue's name."""
    for name, event in function.part("Events").values.items():
        if not isinstance(event, dict):
            continue
        properties = Properties(f"{function.where}.{name}", event.get("Properties") or {}, function.scope)
        if (
            event.get("Type") == "SNS"
            and isinstance(properties.values, dict)
            and properties.values.get("SqsSubscription")
        ):
            yield subscribed(properties)
        elif event.get("Type") == "SQS":
            queue = maybe(lambda properties=properties: properties.required("Queue", "!GetAtt Orders.Arn"))  # type: ignore[misc]
            yield event_source_of(properties), queue_name(queue, function.scope)


def subscribed(event: Properties) -> tuple[EventSource, str | Unknown]:
    """Return the mapping that SAM makes of `SqsSubscription`, and the name of its queue, which SAM makes too where none is given."""
    own = event.values["SqsSubscription"]
    properties = Properties(event.where, own if isinstance(own, dict) else {}, event.scope)
    queue = maybe(lambda: properties.required("QueueArn", "!GetAtt Orders.Arn"))
    if "QueueArn" not in properties.values:
        queue = Unknown(f"SAM makes the queue of {event.where}, with the defaults of SQS and without a redrive policy")
    source = event_source_of(properties)
    return replace(source, partial_responses=False, is_subscription=True), queue_name(queue, event.scope)


def others_invoking(function: Properties, scope: Scope) -> tuple[str, ...] | Unknown:
    """Return what invokes a function that reads no queue: events of SAM by their types, and mappings by their services."""
    events = maybe(lambda: function.part("Events").values)
    if isinstance(events, Unknown):
        return events
    found = [f"{each.get('Type')} ({function.where}.{name})" for name, each in events.items() if isinstance(each, dict)]
    for mapping in resources(scope, MAPPING):
        arn = maybe(lambda mapping=mapping: mapping.text("EventSourceArn", ""))  # type: ignore[misc]
        name = maybe(lambda mapping=mapping: function_name(mapping))  # type: ignore[misc]
        if isinstance(arn, str) and name == scope.attributes[function.where]["Ref"]:
            found.append(f"{(arn.split(':') + [''] * 3)[2]} ({mapping.where})")
    return tuple(found)


def event_source_of(properties: Properties) -> EventSource:
    """Return a mapping, written as an event of SAM or as a resource."""
    window = "MaximumBatchingWindowInSeconds"
    return EventSource(
        name=properties.where,
        partial_responses=maybe(lambda: REPORT in listed(properties.get("FunctionResponseTypes"))),
        batch_size=maybe(lambda: properties.number("BatchSize", 10, minimum=1, maximum=LARGEST_BATCH)),
        window=maybe(lambda: timedelta(seconds=properties.number(window, 0, maximum=300))),
        max_concurrency=maybe(lambda: max_concurrency(properties)),
        filters=maybe(lambda: bool(properties.part("FilterCriteria").get("Filters"))),
        enabled=maybe(lambda: properties.flag("Enabled", default=True)),
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
    scaling = properties.part("ScalingConfig")
    if scaling.get("MaximumConcurrency") is None:
        return None
    return scaling.number("MaximumConcurrency", 0, minimum=LEAST_CONCURRENCY, maximum=MOST_CONCURRENCY)


def variables_of(properties: Properties) -> Mapping[str, str | Unknown]:
    """Return the environment variables of a function."""
    variables = properties.part("Environment").part("Variables")
    values = {name: maybe(lambda name=name: variables.get(name)) for name in variables.values}  # type: ignore[misc]
    return {
        str(name): value if isinstance(value, Unknown) else as_text(value)
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
