"""Parse the `Events` of type SQS of a function into event source mappings."""

from __future__ import annotations

from datetime import timedelta

from recoverable_local.lambda_host.sam.resources.filters import parse_filters
from recoverable_local.lambda_host.sam.stack import EventSourceMapping, Function, Queue
from recoverable_operate.templates import Properties, TemplateError

_LARGEST_BATCH = 10_000  # Lambda, "Creating and configuring an Amazon SQS event source mapping"
_LARGEST_FIFO_BATCH = 10
_BATCH_WITHOUT_WINDOW = 10
_PROPERTIES = {
    "BatchSize",
    "Enabled",
    "FilterCriteria",
    "FunctionResponseTypes",
    "KmsKeyArn",  # has no effect here, like the next three
    "LoggingConfig",
    "MetricsConfig",
    "ProvisionedPollerConfig",
    "MaximumBatchingWindowInSeconds",
    "Queue",
    "ScalingConfig",
}
_REPORT = "ReportBatchItemFailures"


def parse_mapping(properties: Properties, *, function: Function, queues: tuple[Queue, ...]) -> EventSourceMapping:
    """Parse one event source mapping.

    Args:
        properties: The event's `Properties`.
        function: The function that it invokes.
        queues: All queues, those that stand in for queues outside the template included.

    Raises:
        TemplateError: AWS would refuse it.
    """
    properties.refuse_unknown(_PROPERTIES, of="an SQS event")
    name = source_name(properties)
    queue = next(queue for queue in queues if queue.name == name)
    _check_visibility(properties, queue, function)
    return EventSourceMapping(
        name=properties.where,
        queue=queue.name,
        function=function.logical_id,
        batch_size=_batch_size(properties, queue),
        window=_window(properties, queue),
        max_concurrency=_max_concurrency(properties),
        partial_responses=_partial_responses(properties),
        filters=parse_filters(properties),
    )


def source_name(properties: Properties) -> str:
    """Return the name of the queue that a mapping reads.

    Raises:
        TemplateError: Not the ARN of a queue, or only known in AWS.
    """
    arn = properties.required("Queue", "!GetAtt Orders.Arn")
    match arn.split(":"):
        case ["arn", _, "sqs", _, _, name] if name:
            return name
        case _:
            raise TemplateError(
                f"{properties.where}.Queue is {arn!r}, which is no ARN of a queue; write !GetAtt Orders.Arn."
            )


def _batch_size(properties: Properties, queue: Queue) -> int:
    return properties.number("BatchSize", 10, minimum=1, maximum=_LARGEST_FIFO_BATCH if queue.fifo else _LARGEST_BATCH)


def _window(properties: Properties, queue: Queue) -> timedelta:
    name = "MaximumBatchingWindowInSeconds"
    seconds = properties.number(name, 0, maximum=300)
    if seconds and queue.fifo:
        raise TemplateError(f"{properties.where}.{name}: Lambda has no batching window on FIFO queues; leave it out.")
    if not seconds and _batch_size(properties, queue) > _BATCH_WITHOUT_WINDOW:
        raise TemplateError(f"{properties.where}: Lambda wants {name} of at least 1 when BatchSize is more than 10.")
    return timedelta(seconds=seconds)


def _max_concurrency(properties: Properties) -> int | None:
    scaling, name = properties.part("ScalingConfig"), "MaximumConcurrency"
    return None if scaling.get(name) is None else scaling.number(name, 2, minimum=2, maximum=1000)


def _partial_responses(properties: Properties) -> bool:
    types = properties.get("FunctionResponseTypes", [])
    if types not in ([], [_REPORT]):
        raise TemplateError(f"{properties.where}.FunctionResponseTypes is {types!r}; AWS takes [{_REPORT}] or nothing.")
    return bool(types)


def _check_visibility(properties: Properties, queue: Queue, function: Function) -> None:
    if queue.visibility_timeout < function.timeout:
        raise TemplateError(
            f"{properties.where}: the visibility timeout of {queue.name!r} ({queue.visibility_timeout.seconds} s) is less"
            f" than the Timeout of {function.logical_id} ({function.timeout.seconds} s), and AWS refuses such a mapping;"
            " six times the Timeout is what AWS recommends."
        )
