"""Read a Lambda function, the event source mappings that read SQS queues for it, and those queues."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from recoverable_operate.check.cloud.queues_client import alarms_on, error_queue_of, queue_at
from recoverable_operate.check.cloud.role_client import permissions_of
from recoverable_operate.check.cloud.session_client import Aws, answered, asked
from recoverable_operate.check.known import Unknown
from recoverable_operate.check.ladder import PREFIX, ladder_of
from recoverable_operate.check.sqs import REPORT, EventSource, Function, OnSqs, Queue
from recoverable_operate.port import OperateError


def describe_function(aws: Aws, name: str) -> tuple[OnSqs, ...]:
    """Return a description for each queue that a function reads.

    Args:
        aws: the clients.
        name: of the function, or its ARN, with an alias if the mappings are of one.

    Raises:
        OperateError: it cannot be read, or reads no queue.
    """
    client = aws.client("lambda")
    read = answered("lambda", f"function {name}", lambda: client.get_function_configuration(FunctionName=name))
    pages = client.get_paginator("list_event_source_mappings").paginate(FunctionName=name)
    mappings = answered(
        "lambda", f"function {name}", lambda: [each for page in pages for each in page["EventSourceMappings"]]
    )
    function = function_of(aws, client, read)
    found = tuple(described(aws, function, each) for each in mappings if reads_a_queue(each))
    if not found:
        raise OperateError(
            f"no event source mapping of {name} reads an SQS queue; if it is one of an alias, write {name}:ALIAS"
        )
    return found


def reads_a_queue(mapping: Mapping[str, Any]) -> bool:
    """True if a mapping reads an SQS queue."""
    return str(mapping.get("EventSourceArn", "")).split(":")[2:3] == ["sqs"]


def described(aws: Aws, function: Function, mapping: Mapping[str, Any]) -> OnSqs:
    """Return the description of one mapping."""
    queue = asked("sqs", mapping["EventSourceArn"], lambda: queue_at(aws, mapping["EventSourceArn"]))
    variables = function.variables if not isinstance(function.variables, Unknown) else {}
    name = variables.get(f"{PREFIX}ERROR_QUEUE")
    errors = error_queue_of(aws, queue, name if isinstance(name, str) else None) if isinstance(queue, Queue) else queue
    return OnSqs(
        queue, errors, function=function, source=source_of(mapping, function), alarms=alarms_on(aws, errors),
        ladder=ladder_of(variables),
    )  # fmt: skip


def function_of(aws: Aws, client: Any, read: Mapping[str, Any]) -> Function:
    """Return a function, with what its role may do."""
    name = read["FunctionName"]
    recursion = asked("lambda", name, lambda: client.get_function_recursion_config(FunctionName=name)["RecursiveLoop"])
    reserved = asked("lambda", name, lambda: client.get_function_concurrency(FunctionName=name))
    return Function(
        name=name,
        timeout=timedelta(seconds=read["Timeout"]),
        recursive_loop=recursion if isinstance(recursion, Unknown) else recursion == "Allow",
        reserved_concurrency=reserved
        if isinstance(reserved, Unknown)
        else reserved.get("ReservedConcurrentExecutions"),
        variables=read.get("Environment", {}).get("Variables", {}),
        permissions=permissions_of(aws, read["Role"]),
    )


def source_of(mapping: Mapping[str, Any], function: Function) -> EventSource:
    """Return a mapping."""
    return EventSource(
        name=f"the mapping {mapping['UUID']} of {function.name}",
        partial_responses=REPORT in (mapping.get("FunctionResponseTypes") or []),
        batch_size=mapping.get("BatchSize", 10),
        window=timedelta(seconds=mapping.get("MaximumBatchingWindowInSeconds") or 0),
        max_concurrency=max_concurrency(mapping),
    )


def max_concurrency(mapping: Mapping[str, Any]) -> int | Unknown | None:
    """Return the most invocations of a mapping at a time; None for no limit of its own."""
    if mapping.get("ProvisionedPollerConfig"):
        return Unknown("the mapping has provisioned pollers, whose number says how many invocations it makes")
    found: int | None = (mapping.get("ScalingConfig") or {}).get("MaximumConcurrency")
    return found
