"""Define the parsed form of a template: queues, tables, topics, functions and their triggers, as the local host runs them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Redrive:
    """A redrive policy: after `max_receive_count` receives SQS moves a message to the queue named `target`."""

    target: str
    max_receive_count: int


@dataclass(frozen=True, slots=True)
class Queue:
    """An SQS queue.

    Args:
        logical_id: Its key in the template's Resources.
        name: Its name on the broker.
        fifo: True if it keeps the order within a message group.
        visibility_timeout: How long a received message stays hidden.
        attributes: The other attributes that the template sets, as in the SQS API.
        redrive: Where messages go that were received too often, if anywhere.
        outside: True if the template only names it, so that an empty queue stands in for it here.
    """

    logical_id: str
    name: str
    fifo: bool
    visibility_timeout: timedelta
    attributes: Mapping[str, str]
    redrive: Redrive | None
    outside: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A DynamoDB table.

    Args:
        logical_id: Its key in the template's Resources.
        name: Its name on the server.
        definition: Its keys and indexes, as in the DynamoDB API.
    """

    logical_id: str
    name: str
    definition: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Topic:
    """An SNS topic.

    Args:
        logical_id: Its key in the template's Resources.
        name: Its name on the server.
        attributes: Those that the template sets, as in the SNS API.
    """

    logical_id: str
    name: str
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription of a queue to a topic, both by ARN, with its attributes as in the SNS API."""

    topic: str
    queue: str
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Function:
    """A Python function.

    Args:
        logical_id: Its key in the template's Resources.
        name: The name it has in Lambda.
        code: The folder of its `CodeUri`.
        handler: `module.name`, as in the template.
        runtime: Such as `python3.13`. Here the function runs on the Python that runs the host.
        timeout: How long one invocation may take before its instance is killed.
        memory: Megabytes; set in the function's environment, not enforced.
        environment: Its environment variables.
        layers: The folders of its layers' `ContentUri`, the last one first on the import path, as in Lambda.
        reserved_concurrency: The most instances at a time; None is no limit.
        log_format: `Text` or `JSON`.
        log_level: `ApplicationLogLevel`; None leaves it to the function.
        recursive_loop: `Allow` or `Terminate`; checked by `advice`, not enforced.
        processes: The processes of an environment on Lambda Managed Instances; None elsewhere.
    """

    logical_id: str
    name: str
    code: Path
    handler: str
    runtime: str
    timeout: timedelta
    memory: int
    environment: Mapping[str, str]
    layers: tuple[Path, ...]
    reserved_concurrency: int | None
    log_format: str
    log_level: str | None
    recursive_loop: str
    processes: int | None = None


@dataclass(frozen=True, slots=True)
class EventSourceMapping:
    """An event source mapping: it polls a queue and invokes a function.

    Args:
        name: Its name in the template.
        queue: The queue's name.
        function: The function's logical id.
        batch_size: The most records of one invocation.
        window: How long a batch collects records, from its first.
        max_concurrency: The most invocations at a time; None for the host's default.
        partial_responses: True if it has `ReportBatchItemFailures`.
        filters: The patterns of its filters; a message must match one of them, or is deleted.
    """

    name: str
    queue: str
    function: str
    batch_size: int
    window: timedelta
    max_concurrency: int | None
    partial_responses: bool
    filters: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule: it invokes a function at each interval.

    Args:
        name: Its name in the template.
        function: The function's logical id.
        every: The time between two invocations.
        input: The event, as JSON; None for that of EventBridge.
        by_scheduler: True if EventBridge Scheduler runs it (`ScheduleV2`), whose own event differs from that of a rule.
    """

    name: str
    function: str
    every: timedelta
    input: str | None = None
    by_scheduler: bool = False


@dataclass(frozen=True, slots=True)
class Stack:
    """The parts of a template that the local host runs; `not_served` has notes on those that it leaves out."""

    queues: tuple[Queue, ...]
    functions: tuple[Function, ...]
    mappings: tuple[EventSourceMapping, ...]
    not_served: tuple[str, ...]
    tables: tuple[Table, ...] = ()
    schedules: tuple[Schedule, ...] = ()
    subscriptions: tuple[Subscription, ...] = ()
