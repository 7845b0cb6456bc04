"""Read a template's file into descriptions: one for each function that reads a queue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recoverable_operate.check.cloudformation.document import parse_document, resources_of, section
from recoverable_operate.check.cloudformation.functions import Trigger, triggers_of
from recoverable_operate.check.cloudformation.intrinsics import Scope
from recoverable_operate.check.cloudformation.loops import expand_section
from recoverable_operate.check.cloudformation.parameters import NOT_HERE, parse_parameters
from recoverable_operate.check.cloudformation.queues import queues_of
from recoverable_operate.check.cloudformation.reading import maybe, resources, with_names
from recoverable_operate.check.known import Unknown
from recoverable_operate.check.ladder import PREFIX, ladder_of
from recoverable_operate.check.sqs import Alarm, OnSqs, Queue

ACCOUNT = "000000000000"
"""Stands for the account until the template is deployed."""


@dataclass(frozen=True, slots=True)
class Source:
    """A template as it is written, with the values of its parameters, and notes on what of it is not looked at."""

    document: Mapping[str, Any]
    scope: Scope
    notes: tuple[str, ...] = ()


def source_of(path: Path, parameters: Mapping[str, str]) -> Source:
    """Return the template of a file.

    Raises:
        TemplateError: it is none, or a parameter is none of it.
    """
    return of_document(parse_document(path.read_text(encoding="utf-8")), parameters)


def of_document(document: Mapping[str, Any], parameters: Mapping[str, str]) -> Source:
    """Return the template that was parsed.

    Raises:
        TemplateError: it is none, or a parameter is none of it.
    """
    scope = Scope(
        parameters={**PSEUDO, **values_of(section(document, "Parameters"), parameters)},
        mappings=section(document, "Mappings"),
        conditions=section(document, "Conditions"),
        resources={},
        attributes={},
    )
    resources, notes = expand_section(section(document, "Resources"), scope)
    return Source(document, replace(scope, resources=resources_of(resources)), notes)


PSEUDO = {
    "AWS::Region": "us-east-1",
    "AWS::AccountId": ACCOUNT,
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
    "AWS::StackName": "<stack>",
    "AWS::StackId": f"arn:aws:cloudformation:us-east-1:{ACCOUNT}:stack/stack/0",
}


def values_of(declared: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of a template's parameters; `NOT_HERE` for those that have none.

    Raises:
        TemplateError: a given one is none of the template, or not allowed.
    """
    values = parse_parameters({name: declared[name] for name in given if name in declared}, given)
    for name in declared.keys() - given.keys():
        value = maybe(lambda name=name: parse_parameters({name: declared[name]}, {})[name])  # type: ignore[misc]
        values[name] = NOT_HERE if isinstance(value, Unknown) else value
    return values


def describe(source: Source) -> tuple[OnSqs, ...]:
    """Return a description for each function that reads a queue."""
    scope = with_names(source.scope)
    queues = queues_of(scope)
    return tuple(described(trigger, queues, scope) for trigger in triggers_of(source.document, scope))


def described(trigger: Trigger, queues: Mapping[str, Queue], scope: Scope) -> OnSqs:
    """Return the description of one trigger."""
    queue = found(trigger.queue, queues)
    errors, variables = error_queue_of(trigger, queue, queues), trigger.function.variables
    return OnSqs(
        queue=queue,
        error_queue=errors,
        function=trigger.function,
        source=trigger.source,
        alarms=maybe(lambda: tuple(alarms_on(errors, scope))),
        ladder=variables if isinstance(variables, Unknown) else ladder_of(variables),
    )


def found(arn: str | Unknown, queues: Mapping[str, Queue]) -> Queue | Unknown:
    """Return the queue with an ARN, or with a name."""
    if isinstance(arn, Unknown):
        return arn
    name = arn.rpartition("/")[2].rpartition(":")[2]
    return queues.get(arn) or next(
        (queue for queue in queues.values() if queue.name == name),
        Unknown(f"the queue {name} is none of this template; `recoverable check --queue` looks at a deployed one"),
    )


def error_queue_of(trigger: Trigger, queue: Queue | Unknown, queues: Mapping[str, Queue]) -> Queue | Unknown | None:
    """Return the error queue: the one that the function's environment names, else the one that gets the queue's dead letters."""
    variables = trigger.function.variables
    named = {} if isinstance(variables, Unknown) else variables
    if name := named.get(f"{PREFIX}ERROR_QUEUE"):
        return found(name, queues)
    if isinstance(queue, Unknown):
        return queue
    redrive = queue.redrive
    return redrive if redrive is None or isinstance(redrive, Unknown) else found(redrive.target, queues)


def alarms_on(queue: Queue | Unknown | None, scope: Scope) -> Iterator[Alarm]:
    """Yield the alarms that watch a metric of a queue.

    Raises:
        TemplateError: of an alarm it is not known what it watches.
    """
    for alarm in resources(scope, "AWS::CloudWatch::Alarm"):
        if isinstance(queue, Queue) and alarm.text("Namespace", "") == "AWS/SQS":
            dimensions = alarm.get("Dimensions") or []
            if {"Name": "QueueName", "Value": queue.name} in dimensions:
                yield Alarm(alarm.where, alarm.text("MetricName", ""))
