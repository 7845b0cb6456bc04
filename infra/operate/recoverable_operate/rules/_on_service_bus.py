"""Describe a function that reads a Service Bus queue, as far as the rules look at it; each value may be unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from recoverable._service_bus.app_settings import find_setting
from recoverable._service_bus.host_json import HostOptions
from recoverable_operate.rules._ladder import DEFAULT, Ladder
from recoverable_operate.rules._rule import Unknown

NO_APP = Unknown("only the queue was looked at")

FOR_EVER = timedelta(days=10_000_000)
"""A queue without a time to live has the longest one that .NET can say, about 10,675,199 days."""

NAMESPACE = ""
"""The scope of a grant on the whole namespace, or more."""

THREADS = "PYTHON_THREADPOOL_THREAD_COUNT"


@dataclass(frozen=True, slots=True)
class ServiceBusQueue:
    """A queue of Service Bus, or a subscription.

    Args:
        name: its name.
        lock: how long a received message stays locked.
        max_delivery_count: after how many deliveries a message is dead-lettered.
        dead_letters_to: the queue that gets its dead letters; None for its own dead-letter queue.
        forwards_to: the queue or topic that gets all its messages; None for none.
        duplicate_detection: True if it drops a message whose id it has seen before.
        lives: how long it keeps a message; None for ever.
        dead_letters_expired: True if it dead-letters what expires, and does not drop it.
    """

    name: str
    lock: timedelta | Unknown
    max_delivery_count: int | Unknown
    dead_letters_to: str | Unknown | None
    forwards_to: str | Unknown | None
    duplicate_detection: bool | Unknown
    lives: timedelta | Unknown | None
    dead_letters_expired: bool | Unknown


@dataclass(frozen=True, slots=True)
class Trigger:
    """The Service Bus trigger of a function.

    Args:
        function: the function's name.
        binary: True if it gets bytes.
        completes: True if the host completes messages when it has returned; None for what host.json says.
        many: True if it gets a batch.
        other_readers: functions of the same app that read the same queue.
    """

    function: str
    binary: bool
    completes: bool | None
    many: bool = False
    other_readers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Workload:
    """How many invocations of plain functions the host starts at a time, and how many threads the worker has for them."""

    calls: int
    threads: int


@dataclass(frozen=True, slots=True)
class Grant:
    """A role that somebody has on a queue, or on its whole namespace."""

    role: Literal["receive", "send", "own"]
    scope: str


@dataclass(frozen=True, slots=True)
class OnServiceBus:
    """A function that reads a Service Bus queue: what one look describes.

    Args:
        queue: the queue that it reads.
        error_queue: where its messages go that are given up; None for nowhere.
        host: the options of host.json.
        trigger: the function's trigger.
        workload: how many messages run at a time.
        settings: the app settings.
        grants: the roles that the app's identity has.
        ladder: the retries that it makes.
        subscriptions: those that forward to the queue; they have the settings of queues.
        tier: of the namespace, such as `Standard`.
    """

    queue: ServiceBusQueue | Unknown
    error_queue: ServiceBusQueue | Unknown | None
    host: HostOptions | Unknown = NO_APP
    trigger: Trigger | Unknown = NO_APP
    workload: Workload | Unknown = NO_APP
    settings: Mapping[str, str | Unknown] | Unknown = NO_APP
    grants: tuple[Grant, ...] | Unknown = NO_APP
    ladder: Ladder | Unknown = DEFAULT
    subscriptions: tuple[ServiceBusQueue, ...] | Unknown = NO_APP
    tier: str | Unknown = NO_APP


def worker_threads(settings: Mapping[str, str], cores: int) -> int:
    """Return how many threads the worker has (azure-functions-runtime, `threadpool.py`; Python, `ThreadPoolExecutor`)."""
    said = find_setting(THREADS, settings) or ""
    return int(said) if said.isdecimal() and int(said) >= 1 else min(32, cores + 4)
