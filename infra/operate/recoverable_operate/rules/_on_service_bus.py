"""Describe a function that reads a Service Bus queue, as far as the rules look at it; each value may be unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal

from recoverable._service_bus.app_settings import find_setting
from recoverable._service_bus.host_json import HostOptions
from recoverable_operate.rules._endpoint import CODE_NOT_READ, Endpoint
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
        sessions: True if it has sessions.
        deleted_when_idle: after how long without use it is deleted, with what is in it; None for never.
        status: `Active`, or what of it is switched off.
    """

    name: str
    lock: timedelta | Unknown
    max_delivery_count: int | Unknown
    dead_letters_to: str | Unknown | None
    forwards_to: str | Unknown | None
    duplicate_detection: bool | Unknown
    lives: timedelta | Unknown | None
    dead_letters_expired: bool | Unknown
    sessions: bool | Unknown = False
    deleted_when_idle: timedelta | Unknown | None = None
    status: str | Unknown = "Active"


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
    binary: bool | Unknown
    completes: bool | Unknown | None
    many: bool | Unknown = False
    other_readers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Workload:
    """How many plain functions the host runs at a time.

    Args:
        calls: how many invocations of them it starts at a time.
        threads: how many threads the worker has for them.
        by_calls: True if `maxConcurrentCalls` alone says the first: there is one such function, of single messages without sessions.
    """

    calls: int
    threads: int
    by_calls: bool = True


@dataclass(frozen=True, slots=True)
class Bundle:
    """The extension bundle that a host.json takes: its major version, and the range as it is written."""

    major: int
    written: str


@dataclass(frozen=True, slots=True)
class Grant:
    """A role that somebody has on a queue, or on its whole namespace.

    Args:
        role: what it allows.
        scope: the queue's name, or `NAMESPACE`.
        principal: who has it, by the id or the name of an identity or an app; Unknown if it is given in another way.
    """

    role: Literal["receive", "send", "own"]
    scope: str
    principal: str | Unknown


@dataclass(frozen=True, slots=True)
class OnServiceBus:
    """A function that reads a Service Bus queue: what one look describes.

    Args:
        queue: the queue that it reads.
        error_queue: where its messages go that are given up, else where its dead letters go; None for nowhere.
        host: the options of host.json.
        bundle: its extension bundle; None where it has none.
        trigger: the function's trigger.
        workload: how many messages run at a time.
        settings: the app settings.
        grants: the roles that somebody has.
        identities: the ids or names of the app's identities, and of the app where it has one of its own.
        ladder: the retries that it makes.
        code: what its code says of its endpoint.
        queue_name: the name of the queue that it reads.
        error_name: the name of the queue to which it moves what is given up.
        made: the names of the queues that the file makes; None where there is no file.
        subscriptions: those that forward to the queue; they have the settings of queues.
        tier: of the namespace, such as `Standard`.
        stamped: the queues of which a function of the code sends each message on, with a reason, and where to.
        unread: why it is not known whether the function uses this package; empty where it does.
        longest: how long the app's plan lets a function run; None for any time.
        host_values: what host.json says, and app settings in its place, by paths in small letters such as `logging__loglevel`.
    """

    queue: ServiceBusQueue | Unknown
    error_queue: ServiceBusQueue | Unknown | None
    host: HostOptions | Unknown = NO_APP
    bundle: Bundle | Unknown | None = NO_APP
    trigger: Trigger | Unknown = NO_APP
    workload: Workload | Unknown = NO_APP
    settings: Mapping[str, str | Unknown] | Unknown = NO_APP
    grants: tuple[Grant, ...] | Unknown = NO_APP
    identities: frozenset[str] | Unknown = NO_APP
    ladder: Ladder | Unknown = DEFAULT
    code: Endpoint | Unknown = CODE_NOT_READ
    queue_name: str | Unknown = NO_APP
    error_name: str | Unknown = NO_APP
    made: frozenset[str] | None = None
    subscriptions: tuple[ServiceBusQueue, ...] | Unknown = NO_APP
    tier: str | Unknown = NO_APP
    stamped: Mapping[str, str | Unknown] = field(default_factory=dict)
    unread: str = ""
    longest: timedelta | Unknown | None = NO_APP
    host_values: Mapping[str, Any] | Unknown = NO_APP

    @property
    def subject(self) -> str:
        """Return the queue's name, else the function's."""
        if not isinstance(self.queue, Unknown):
            return self.queue.name
        named = self.queue_name if isinstance(self.trigger, Unknown) else self.trigger.function
        return named if isinstance(named, str) else "an app"


def worker_threads(settings: Mapping[str, str], cores: int) -> int:
    """Return how many threads the worker has (azure-functions-runtime, `threadpool.py`; Python, `ThreadPoolExecutor`)."""
    said = find_setting(THREADS, settings) or ""
    return int(said) if said.isdecimal() and int(said) >= 1 else min(32, cores + 4)
