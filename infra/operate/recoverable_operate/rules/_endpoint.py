"""Describe an endpoint of this package as a function's code makes it; each value may be unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from recoverable_operate.rules._ladder import DEFAULT, PREFIX, Ladder
from recoverable_operate.rules._rule import Problem, Unknown, known

CODE_NOT_READ = Unknown("the code was not looked at")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The settings that the code gives an `SqsEndpoint`, a `RecoverableBatchProcessor`, a `ServiceBusEndpoint` or `stamp`.

    Args:
        where: file and line, such as `orders.py:12`.
        ladder: the retries that it makes.
        error_queue: where it moves what is given up; None where the code leaves that to the environment.
        handler_timeout: how long its handler may work on one message; None for no limit of its own.
        partial_responses: SQS: False where it deletes completed messages itself.
        queue: Service Bus: the queue that it reads.
        named: Service Bus: the queue as the code writes it, such as `%ORDERS_QUEUE%`.
        connection: Service Bus: the name of the connection's app setting.
        sessions: Service Bus: whether the queue has sessions.
        batch: Service Bus: True if its trigger gives many messages at once.
        lock: Service Bus: the queue's lock, as the code says it; None where it does not.
        stamps: SQS: True if it is no endpoint, and stamps dead letters.
        bound: Service Bus: True if its own blueprint is registered; else a trigger in the code calls it.
    """

    where: str
    ladder: Ladder | Unknown = DEFAULT
    error_queue: str | Unknown | None = None
    handler_timeout: timedelta | Unknown | None = None
    partial_responses: bool | Unknown = True
    queue: str | Unknown = CODE_NOT_READ
    named: str | Unknown = ""
    connection: str | Unknown = CODE_NOT_READ
    sessions: bool | Literal["ordered"] | Unknown = False
    batch: bool | Unknown = False
    lock: timedelta | Unknown | None = None
    bound: bool = False
    stamps: bool = False


def handler_times(endpoint: Endpoint, longest: timedelta, whose: str) -> Iterator[Problem]:
    """Find a `handler_timeout` that never ends anything, because the function itself ends before.

    Args:
        endpoint: the code's.
        longest: how long the function may run.
        whose: names that limit.
    """
    if (given := known(endpoint.handler_timeout)) is not None and given >= longest:
        yield Problem(
            endpoint.where,
            f"{endpoint.where} has a handler_timeout of {given}, and {whose} is {longest}",
            "the function ends before its handler is stopped",
            "write a shorter handler_timeout, or a longer time for the function",
        )


DEFAULT_ERROR_QUEUE = "error"
"""Where a message goes that is given up when neither code nor environment names a queue."""


def not_set(queue: str, target: str) -> Problem:
    """Return the finding for an error queue that neither code nor environment names."""
    return Problem(
        queue,
        f"no error queue is set, so what is given up goes to {DEFAULT_ERROR_QUEUE!r}, and the dead letters of {queue} to {target}",
        "there is no such queue here, and what is given up stays where it is",
        f"write {PREFIX}ERROR_QUEUE: {target}, or Failed({target!r}) in the code",
    )


def error_name(code: Endpoint | Unknown, variables: Mapping[str, str | Unknown] | Unknown) -> str | Unknown:
    """Return the name of the queue to which a function moves what is given up: as its code says, else its environment."""
    if not isinstance(code, Unknown) and code.error_queue is not None:
        return code.error_queue
    if isinstance(variables, Unknown):
        return variables
    named = variables.get(f"{PREFIX}ERROR_QUEUE")
    if isinstance(named, Unknown):
        return named
    if named and named.strip():
        return named.rpartition("/")[2].rpartition(":")[2]
    return code if isinstance(code, Unknown) else DEFAULT_ERROR_QUEUE
