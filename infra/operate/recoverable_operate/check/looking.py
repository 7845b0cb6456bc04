"""Read what the arguments of a check name: a template, a deployed function, or a deployed queue."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, replace
from typing import TypeVar

from recoverable_operate.aws.session_client import Access
from recoverable_operate.check.foreign import hint_for_content, hint_for_name
from recoverable_operate.check.ladder import DEFAULT, Ladder
from recoverable_operate.check.service_bus import OnServiceBus
from recoverable_operate.check.sqs import Function, OnSqs
from recoverable_operate.port import OperateError

D = TypeVar("D", OnSqs, OnServiceBus)


@dataclass(frozen=True, slots=True)
class Look:
    """What was read.

    Args:
        on_sqs: the functions on SQS.
        on_service_bus: the functions on Service Bus.
        notes: what of it was not looked at.
    """

    on_sqs: tuple[OnSqs, ...] = ()
    on_service_bus: tuple[OnServiceBus, ...] = ()
    notes: tuple[str, ...] = ()


def look(arguments: argparse.Namespace) -> Look:
    """Return what the arguments name, with the ladder that they say.

    Raises:
        OperateError: it cannot be read, or they name nothing, or more than one thing.
    """
    if arguments.template is not None and arguments.queue is None:
        read = look_at_template(arguments)
    elif (arguments.function is None) == (arguments.queue is None) or arguments.template is not None:
        raise OperateError("give one thing to look at: a FILE, --function NAME or --queue QUEUE")
    else:
        read = look_at_function(arguments) if arguments.queue is None else look_at_queue(arguments)
    return replace(
        read,
        on_sqs=tuple(with_ladder(each, arguments) for each in read.on_sqs),
        on_service_bus=tuple(with_ladder(each, arguments) for each in read.on_service_bus),
    )


def look_at_template(arguments: argparse.Namespace) -> Look:
    """Return what a template describes, or a Bicep file.

    Raises:
        OperateError: it cannot be read.
    """
    if hint := hint_for_name(arguments.template):
        raise OperateError(f"{arguments.template}: {hint}")
    if arguments.template.suffix == ".bicep":
        return look_at_bicep(arguments)
    try:
        from recoverable_operate.check.cloudformation.document import TemplateError  # noqa: PLC0415  # needs PyYAML
        from recoverable_operate.check.cloudformation.reader import describe, source_of  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise OperateError(f"templates need {error.name}: pip install 'recoverable[operate]'") from None

    try:
        source = source_of(arguments.template, dict(arguments.parameter))
        found = describe(source)
    except (OSError, UnicodeDecodeError, TemplateError) as error:
        raise OperateError(f"{arguments.template}: {error}") from error
    if not found:
        why = hint_for_content(source.document) or "no function of it reads an SQS queue, so there is nothing to check"
        raise OperateError(f"{arguments.template}: {why}")
    return Look(on_sqs=chosen(found, arguments), notes=source.notes)


def chosen(found: tuple[OnSqs, ...], arguments: argparse.Namespace) -> tuple[OnSqs, ...]:
    """Return the functions of a template, or the one that is named.

    Raises:
        OperateError: there is none of that name.
    """
    names = {each.function.name: each for each in found if isinstance(each.function, Function)}
    if arguments.function is None:
        return found
    if arguments.function not in names:
        raise OperateError(
            f"{arguments.template}: no function {arguments.function} reads a queue; {', '.join(names)} do"
        )
    return tuple(each for each in found if getattr(each.function, "name", None) == arguments.function)


def look_at_bicep(arguments: argparse.Namespace) -> Look:
    """Return what a Bicep file describes.

    Raises:
        OperateError: it cannot be read.
    """
    from recoverable_operate.check.bicep.reader import describe  # noqa: PLC0415  # one cloud is enough
    from recoverable_operate.check.bicep.values import BicepError  # noqa: PLC0415

    try:
        found = describe(arguments.template, dict(arguments.parameter))
    except ModuleNotFoundError as error:
        raise OperateError(f"Bicep needs {error.name}: pip install 'recoverable[operate]'") from None
    except (OSError, UnicodeDecodeError, BicepError) as error:
        raise OperateError(f"{arguments.template}: {error}") from error
    if not found:
        raise OperateError(
            f"{arguments.template}: it makes no Service Bus queue that is read, so there is nothing to check"
        )
    return Look(on_service_bus=found)


def look_at_function(arguments: argparse.Namespace) -> Look:
    """Return a deployed Lambda function.

    Raises:
        OperateError: it cannot be read.
    """
    from recoverable_operate.check.cloud.lambda_client import describe_function  # noqa: PLC0415  # one cloud is enough
    from recoverable_operate.check.cloud.session_client import Aws  # noqa: PLC0415

    return Look(on_sqs=describe_function(Aws(access(arguments)), arguments.function))


def look_at_queue(arguments: argparse.Namespace) -> Look:
    """Return a deployed queue.

    Raises:
        OperateError: it cannot be read.
    """
    if arguments.queue.startswith("sb://"):
        from recoverable_operate.azure.entity import entity_of  # noqa: PLC0415  # one cloud is enough
        from recoverable_operate.check.cloud.service_bus_client import describe_entity  # noqa: PLC0415

        connection = os.environ.get(arguments.connection)
        return Look(on_service_bus=describe_entity(entity_of(arguments.queue), connection, arguments.connection))
    from recoverable_operate.check.cloud.queues_client import describe_queue  # noqa: PLC0415
    from recoverable_operate.check.cloud.session_client import Aws  # noqa: PLC0415

    return Look(on_sqs=describe_queue(Aws(access(arguments)), arguments.queue))


def access(arguments: argparse.Namespace) -> Access:
    """Return how AWS is reached."""
    return Access(
        profile=arguments.profile, region=arguments.region, role=arguments.role, endpoint_url=arguments.endpoint_url
    )


def with_ladder(described: D, arguments: argparse.Namespace) -> D:
    """Return the description with the ladder of the command line, if it says one."""
    said = {"immediate": arguments.immediate_retries, "delayed": arguments.delayed_retries}
    counts = {name: count for name, count in said.items() if count is not None}
    if not counts and not arguments.ordered:
        return described
    found = described.ladder if isinstance(described.ladder, Ladder) else DEFAULT
    return replace(
        described, ladder=replace(found, **counts, ordered=arguments.ordered, said=found.said or bool(counts))
    )
