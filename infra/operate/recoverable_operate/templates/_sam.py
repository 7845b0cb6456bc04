"""Read the SQS queues of a template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from recoverable_operate.rules._ladder import PREFIX, ladder_of
from recoverable_operate.rules._on_sqs import (
    AWS_KEY,
    DEFAULT_RETENTION,
    DEFAULT_VISIBILITY,
    REPORT,
    Alarm,
    EventSource,
    Function,
    OnSqs,
    Queue,
    Redrive,
)
from recoverable_operate.rules._rule import Unknown
from recoverable_operate.templates._document import (
    TemplateError,
    as_text,
    maybe,
    parse_known_parameters,
    parse_parameters,
    resources_of,
    section,
)
from recoverable_operate.templates._intrinsics import Scope, expand_section
from recoverable_operate.templates._policies import permissions_of
from recoverable_operate.templates._properties import FUNCTIONS, QUEUE, Properties, listed, resources, with_names

SECOND = timedelta(seconds=1)
LONGEST_VISIBILITY, LONGEST_RETENTION = 43_200, 1_209_600  # seconds; SQS API reference, SetQueueAttributes

SAM, PLAIN = FUNCTIONS

MAPPING = "AWS::Lambda::EventSourceMapping"

LONGEST_TIMEOUT = 5_400  # seconds; of Lambda Managed Instances, 900 elsewhere (Lambda quotas)

LARGEST_BATCH = 10_000

ACCOUNT = "000000000000"
"""Stands for the account until the template is deployed."""


def queues_of(scope: Scope) -> dict[str, Queue]:
    """Return the queues of a template, by their ARNs."""
    found = [queue_of(properties) for properties in resources(scope, QUEUE)]
    return {queue.arn: queue for queue in found}


def queue_of(properties: Properties) -> Queue:
    """Return one queue."""
    named = properties.scope.attributes[properties.where]
    return Queue(
        name=named["QueueName"],
        arn=named["Arn"],
        fifo=maybe(lambda: properties.flag("FifoQueue", default=False)),
        visibility_timeout=maybe(
            lambda: seconds(properties, "VisibilityTimeout", DEFAULT_VISIBILITY, LONGEST_VISIBILITY)
        ),
        retention=maybe(lambda: seconds(properties, "MessageRetentionPeriod", DEFAULT_RETENTION, LONGEST_RETENTION)),
        redrive=maybe(lambda: redrive_of(properties)),
        key=key_of(properties),
    )


def seconds(properties: Properties, name: str, default: timedelta, most: int) -> timedelta:
    """Return a property that is a time in seconds."""
    return timedelta(seconds=properties.number(name, default // SECOND, maximum=most))


def redrive_of(properties: Properties) -> Redrive | None:
    """Return the redrive policy of a queue; None if it has none.

    Raises:
        TemplateError: it is no policy, or a value of it is only known in AWS.
    """
    policy = properties.json_part("RedrivePolicy")
    if not policy.values:
        return None
    target = policy.required("deadLetterTargetArn", "!GetAtt ErrorQueue.Arn")
    return Redrive(target, policy.number("maxReceiveCount", 10, minimum=1, maximum=1000))


def key_of(properties: Properties) -> str | Unknown | None:
    """Return the KMS key of a queue; None where it takes no permission."""
    key = maybe(lambda: properties.get("KmsMasterKeyId"))
    if not isinstance(key, str) or key == AWS_KEY:
        return key if isinstance(key, Unknown) else None
    if key.startswith("alias/"):
        return Unknown(f"{properties.where} has the key {key}, and which key that is an alias of is known in AWS alone")
    return key


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
            yield Trigger(function_of(found), event_source_of(mapping), arn)


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
                event_source_of(properties),
                maybe(
                    lambda properties=properties: properties.required("Queue", "!GetAtt Orders.Arn")  # type: ignore[misc]
                ),
            )


def event_source_of(properties: Properties) -> EventSource:
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


@dataclass(frozen=True, slots=True)
class SamTemplate:
    """A template as it is written, with the values of its parameters.

    Args:
        document: what was parsed.
        scope: its names and their values; resources have none yet.
        notes: what of it could not be expanded, and is left out.
    """

    document: Mapping[str, Any]
    scope: Scope
    notes: tuple[str, ...] = ()


def read_template(
    document: Mapping[str, Any],
    given: Mapping[str, str],
    *,
    region: str = "us-east-1",
    stack_name: str = "<stack>",
    lenient: bool = False,
) -> SamTemplate:
    """Return a parsed template with the values of its parameters, and with its loops expanded.

    Args:
        document: what was parsed.
        given: values of parameters; the others have their defaults.
        region: the value of `AWS::Region`.
        stack_name: the value of `AWS::StackName`.
        lenient: True to refuse a parameter without a value, or with one that is not allowed, only where it is used; a given one always.

    Raises:
        TemplateError: a section is none, a given parameter is not in the template, or a parameter has no value that is allowed.
    """
    read = parse_known_parameters if lenient else parse_parameters
    scope = Scope(
        parameters={**pseudo_parameters(region, stack_name), **read(section(document, "Parameters"), given)},
        mappings=section(document, "Mappings"),
        conditions=section(document, "Conditions"),
        resources={},
        attributes={},
    )
    resources, notes = expand_section(section(document, "Resources"), scope)
    return SamTemplate(document, replace(scope, resources=resources_of(resources)), notes)


def pseudo_parameters(region: str, stack_name: str) -> dict[str, str]:
    """Return the values of the parameters that CloudFormation has for each template."""
    return {
        "AWS::Region": region,
        "AWS::AccountId": ACCOUNT,
        "AWS::Partition": "aws",
        "AWS::URLSuffix": "amazonaws.com",
        "AWS::StackName": stack_name,
        "AWS::StackId": f"arn:aws:cloudformation:{region}:{ACCOUNT}:stack/{stack_name}/0",
    }


def describe_template(template: SamTemplate) -> tuple[OnSqs, ...]:
    """Return a description for each function that reads a queue."""
    scope = with_names(template.scope)
    queues = queues_of(scope)
    return tuple(describe_trigger(trigger, queues, scope) for trigger in triggers_of(template.document, scope))


def describe_trigger(trigger: Trigger, queues: Mapping[str, Queue], scope: Scope) -> OnSqs:
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
        Unknown(f"the queue {name} is not in this template; `recoverable check --queue` looks at a deployed one"),
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
