"""Describe the functions of a template that read SQS queues and use this package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from recoverable_operate.rules._endpoint import CODE_NOT_READ, error_name
from recoverable_operate.rules._ladder import PREFIX, Ladder, ladder_of
from recoverable_operate.rules._on_sqs import Function, OnSqs, Queue
from recoverable_operate.rules._rule import Check, Unknown
from recoverable_operate.templates._document import maybe, section
from recoverable_operate.templates._lambda_code import LambdaCode, code_of
from recoverable_operate.templates._places import Place
from recoverable_operate.templates._policies import permissions_of
from recoverable_operate.templates._properties import QUEUE, Properties, resources
from recoverable_operate.templates._queues import alarms_on, found, queues_of
from recoverable_operate.templates._references import dangling_of
from recoverable_operate.templates._stacks import SamTemplate, Stack, ours, stack_of
from recoverable_operate.templates._triggers import (
    Trigger,
    functions_of,
    optional,
    others_invoking,
    queue_name,
    triggers_of,
    variables_of,
)

LONGEST_TIMEOUT = {False: 900, True: 5_400}  # seconds; the longer on Lambda Managed Instances (Lambda quotas)

VPC_ENDPOINT = "AWS::EC2::VPCEndpoint"

EVERY = LambdaCode(uses=True, endpoint=Unknown("any code is asked about"), missing=None, is_here=False)
"""The answer where it does not matter what code uses."""

ALL_USE = LambdaCode(uses=True, endpoint=CODE_NOT_READ, missing=CODE_NOT_READ, is_here=False)
"""The answer for functions whose code is not here."""


@dataclass(frozen=True, slots=True)
class DescribedTemplate:
    """The content of a template.

    Args:
        functions: those that read a queue and use this package, or may; one for each queue.
        left_alone: the names of the others that read a queue.
        parts: its nested stacks and loops, read or not.
        places: where things are written, by the names that findings have for them.
        waivers: what its resources say is meant as it is.
    """

    functions: tuple[OnSqs, ...]
    left_alone: tuple[str, ...] = ()
    parts: tuple[Check, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict)
    waivers: tuple[Waiver, ...] = ()


@dataclass(frozen=True, slots=True)
class Waiver:
    """A waiver: a resource's `Metadata` says that what a rule finds is meant as it is.

    Args:
        resource: its logical id.
        rule: the rule that is to find nothing there.
        reason: why.
    """

    resource: str
    rule: str
    reason: str


def describe_template(template: SamTemplate, named: str | None = None, *, every: bool = False) -> DescribedTemplate:
    """Describe a template and its nested stacks.

    Args:
        template: as it was read.
        named: the one function that is asked about, which then uses this package.
        every: True to describe each function that reads a queue, whatever its code uses.

    Raises:
        TemplateError: a part of it that is needed is not what it should be.
    """
    outermost = stack_of(template)
    stacks = tuple(outermost.all())
    queues = {queue.name: queue for stack in stacks for queue in queues_of(stack.scope)}
    described: list[OnSqs] = []
    left_alone: list[str] = []
    reading: list[tuple[str | Unknown, str]] = []
    for stack in stacks:
        triggers = [*triggers_of(stack.template.document, stack.scope)]
        if not every:
            described += without_queue(stack, {each.function.where for each in triggers}, queues, named)
        reading += [(each.queue, each.function.where) for each in triggers]
        for trigger in triggers:
            code = EVERY if every else code_in(stack, trigger.function, named)
            if code.uses is False:
                left_alone.append(trigger.function.where)
            else:
                described.append(describe_trigger(trigger, code, queues, stack))
    described = [replace(each, readers=tuple(others_reading(each, reading))) for each in described]
    stamped = {each.queue_name: sent_on_to(each) for each in described if isinstance(each.queue_name, str)}
    described = [replace(each, stamped=stamped) for each in described]
    parts = tuple(part for stack in stacks for part in stack.parts)
    waivers = tuple(waiver for stack in stacks for waiver in waivers_of(stack)) if described else ()
    places = dict(place for stack in stacks if stack.template.path for place in places_of(stack, stack.template.path))
    return DescribedTemplate(tuple(described), tuple(dict.fromkeys(left_alone)), parts, places, waivers)


def others_reading(described: OnSqs, reading: list[tuple[str | Unknown, str]]) -> Iterator[str]:
    """Yield the other functions that read the same queue."""
    own = getattr(described.function, "name", "")
    for queue, function in reading:
        if isinstance(queue, str) and queue == described.queue_name and function != own:
            yield function


def without_queue(stack: Stack, reading: set[str], queues: Mapping[str, Queue], named: str | None) -> Iterator[OnSqs]:
    """Yield a description of each function whose code makes an endpoint, and that reads no queue of the template."""
    if stack.template.path is None:
        return
    for function in functions_of(stack.template.document, stack.scope):
        if function.where in reading:
            continue
        code = code_in(stack, function, named)
        if not isinstance(code.endpoint, Unknown) and code.uses is True:
            nothing = Unknown(f"no queue invokes {function.where}")
            described = describe_trigger(Trigger(function, nothing, nothing), code, queues, stack)
            yield replace(described, others=others_invoking(function, stack.scope))


def sent_on_to(deployed: OnSqs) -> str | Unknown | None:
    """Return where a function sends each message of its queue, with a reason; None where it does something else with them."""
    if isinstance(deployed.code, Unknown):
        return deployed.code
    return deployed.error_name if deployed.code.stamps else None


def waivers_of(stack: Stack) -> Iterator[Waiver]:
    """Yield what the resources of a template say is meant as it is."""
    for name, resource in stack.scope.resources.items():
        for rule, reason in section(ours(resource), "Ignore").items():
            yield Waiver(name, str(rule), str(reason or "").strip())


def places_of(stack: Stack, file: Path) -> Iterator[tuple[str, Place]]:
    """Yield the names that findings have for what a template says, each with its place."""
    for name in stack.scope.resources:
        place = Place(file, ("Resources", name))
        yield from ((name, place), (f"the role of {name}", place))
    for queue in resources(stack.scope, QUEUE):
        yield stack.scope.attributes[queue.where]["QueueName"], Place(file, ("Resources", queue.where))
    for trigger in triggers_of(stack.template.document, stack.scope):
        if not isinstance(trigger.source, Unknown):
            function, _, event = trigger.source.name.partition(".")
            inside = ("Properties", "Events", event) if event else ()
            yield trigger.source.name, Place(file, ("Resources", function, *inside))


def code_in(stack: Stack, function: Properties, named: str | None) -> LambdaCode:
    """Return the code of a function."""
    path = stack.template.path
    if path is None:
        return ALL_USE
    variables = maybe(lambda: variables_of(function))
    code = code_of(function, stack.scope.resources[function.where], variables, path.parent)
    return replace(code, uses=True) if named == function.where else code


def describe_trigger(trigger: Trigger, code: LambdaCode, queues: Mapping[str, Queue], stack: Stack) -> OnSqs:
    """Return the description of one trigger."""
    queue, function, scope = found(trigger.queue, queues), function_of(trigger.function, code), stack.scope
    named = error_name(code.endpoint, function.variables)
    variables: Mapping[str, str | Unknown] = {} if isinstance(function.variables, Unknown) else function.variables
    address = variables.get(f"{PREFIX}ERROR_QUEUE")
    if isinstance(address, str) and isinstance(elsewhere := queue_name(address, scope), Unknown):
        named = elsewhere
    errors = error_queue_of(named, queue, queues)
    return OnSqs(
        queue=queue,
        error_queue=errors,
        function=function,
        source=trigger.source,
        alarms=alarms_on(errors, scope),
        ladder=ladder_in(function, code),
        code=code.endpoint,
        queue_name=trigger.queue,
        error_name=named,
        made=frozenset(queues),
        dangling=dangling_of(stack.template.document, scope),
        endpoints=any(map(is_for_sqs, resources(scope, VPC_ENDPOINT))),
        unread=code.uses.why if isinstance(code.uses, Unknown) else "",
    )


def function_of(properties: Properties, code: LambdaCode) -> Function:
    """Return a function, with what its role may do."""
    longest = LONGEST_TIMEOUT[properties.values.get("CapacityProviderConfig") is not None]
    return Function(
        name=properties.where,
        timeout=maybe(lambda: timedelta(seconds=properties.number("Timeout", 3, minimum=1, maximum=longest))),
        recursive_loop=maybe(lambda: properties.text("RecursiveLoop", "Terminate") == "Allow"),
        reserved_concurrency=maybe(lambda: optional(properties, "ReservedConcurrentExecutions")),
        variables=maybe(lambda: variables_of(properties)),
        permissions=maybe(lambda: permissions_of(properties)),
        missing_handler=code.missing,
        in_vpc=maybe(lambda: bool(properties.part("VpcConfig").values)),
        runtime=maybe(lambda: None if properties.get("Runtime") is None else properties.text("Runtime", "")),
        undefined_handler=code.undefined,
    )


def ladder_in(function: Function, code: LambdaCode) -> Ladder | Unknown:
    """Return the ladder that the code says; where there is no code, that of the environment."""
    if code.is_here:
        return code.endpoint if isinstance(code.endpoint, Unknown) else code.endpoint.ladder
    return function.variables if isinstance(function.variables, Unknown) else ladder_of(function.variables)


def error_queue_of(named: str | Unknown, queue: Queue | Unknown, queues: Mapping[str, Queue]) -> Queue | Unknown | None:
    """Return the error queue: the one that is named, if it is made here, else the one that gets the queue's dead letters."""
    if isinstance(named, str) and named in queues:
        return queues[named]
    if isinstance(queue, Unknown) or not (redrive := queue.redrive):
        return queue if isinstance(queue, Unknown) else None
    return redrive if isinstance(redrive, Unknown) else found(redrive.target_name, queues)


def is_for_sqs(endpoint: Properties) -> bool:
    """True if an endpoint of a VPC is for SQS, as far as its name is known."""
    name = maybe(lambda: endpoint.text("ServiceName", ""))
    return isinstance(name, str) and name.endswith(".sqs")
