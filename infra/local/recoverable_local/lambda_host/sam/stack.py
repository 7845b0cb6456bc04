"""What a template comes down to: the frozen queues, tables, functions and what invokes them, as the local host runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Redrive:
    """The broker's own limit: after `max_receive_count` receives a message goes to the queue named `target`."""

    target: str
    max_receive_count: int


@dataclass(frozen=True, slots=True)
class Queue:
    """An SQS queue.

    Args:
        logical_id: Its key in the template's Resources.
        name: Its name on the broker.
        fifo: Whether it keeps the order within a message group.
        visibility_timeout: How long a received message stays hidden.
        attributes: The other attributes that the template sets, as the SQS API names and writes them.
        redrive: Where messages go that were received too often.
    """

    logical_id: str
    name: str
    fifo: bool
    visibility_timeout: timedelta
    attributes: Mapping[str, str]
    redrive: Redrive | None


@dataclass(frozen=True, slots=True)
class Table:
    """A DynamoDB table.

    Args:
        logical_id: Its key in the template's Resources.
        name: Its name on the server.
        definition: Its keys and indexes, as the DynamoDB API names and writes them.
    """

    logical_id: str
    name: str
    definition: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Function:
    """A Python function.

    Args:
        logical_id: Its key in the template's Resources.
        name: The name it has in Lambda.
        code: The folder of its `CodeUri`.
        handler: `module.name`, as in the template.
        runtime: Such as `python3.13`; what runs here is the Python that runs the host.
        timeout: How long one invocation may take before its instance is killed.
        memory: Megabytes; told to the function, not enforced.
        environment: Its environment variables.
        layers: The folders of its layers' `ContentUri`, the last one first on the import path, as in Lambda.
        reserved_concurrency: The most instances at a time; None is no limit.
        log_format: `Text` or `JSON`.
        log_level: `ApplicationLogLevel`; None leaves it to the function.
        recursive_loop: `Allow` or `Terminate`; told to the reader, not enforced.
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


@dataclass(frozen=True, slots=True)
class EventSourceMapping:
    """What reads a queue for a function.

    Args:
        name: How the template calls it.
        queue: The queue's name.
        function: The function's logical id.
        batch_size: The most records of one invocation.
        window: How long a batch gathers records, from its first.
        max_concurrency: The most invocations at a time; None is the host's own choice.
        partial_responses: Whether the function reports `batchItemFailures`.
    """

    name: str
    queue: str
    function: str
    batch_size: int
    window: timedelta
    max_concurrency: int | None
    partial_responses: bool


@dataclass(frozen=True, slots=True)
class Schedule:
    """What invokes a function again and again.

    Args:
        name: How the template calls it.
        function: The function's logical id.
        every: The time between two invocations.
        input: The event, as JSON; None for that of EventBridge.
    """

    name: str
    function: str
    every: timedelta
    input: str | None = None


@dataclass(frozen=True, slots=True)
class Stack:
    """All that the local host runs of a template, and what it leaves out, in words for its reader."""

    queues: tuple[Queue, ...]
    functions: tuple[Function, ...]
    mappings: tuple[EventSourceMapping, ...]
    not_served: tuple[str, ...]
    tables: tuple[Table, ...] = ()
    schedules: tuple[Schedule, ...] = ()
