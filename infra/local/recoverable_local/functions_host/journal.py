"""Define the entries of the Functions host's journal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, TypeAlias

from recoverable_local.decisions import Decided
from recoverable_local.functions_host.worker.outcomes import Outcome
from recoverable_local.journal import Journal as AnyJournal

Settled = Literal["completed", "abandoned", "left"]
"""How the host settled an invocation's messages; those "left" are delivered again when their locks expire."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """One delivery of a message to a function, with the id by which the function knows it; the first has the count 1."""

    message_id: str
    sequence_number: int
    delivery_count: int


@dataclass(frozen=True, slots=True)
class Started:
    """A worker process is ready."""

    pid: int
    functions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Invoked:
    """A function got messages. The request id is the host's invocation id, which is also in the facts of a decision."""

    function: str
    request_id: str
    messages: tuple[Delivered, ...]


@dataclass(frozen=True, slots=True)
class Ended:
    """An invocation is over.

    Args:
        function: The function's name.
        request_id: The same as in the entry `Invoked`.
        messages: The same as there.
        duration: From receiving the messages to the outcome.
        outcome: How it ended.
        settled: How the host settled the messages.
        left: The sequence numbers of those for which that failed: they come back when their locks end.
    """

    function: str
    request_id: str
    messages: tuple[Delivered, ...]
    duration: timedelta
    outcome: Outcome
    settled: Settled
    left: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FunctionLog:
    """One line that a worker wrote to its standard output or error."""

    pid: int
    line: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """An operation of the host failed, not the function; `then` is what happens next."""

    what: str
    error: str
    then: str


Entry = Started | Invoked | Decided | Ended | FunctionLog | Trouble
Observer = Callable[[Entry], None]
Journal: TypeAlias = AnyJournal[Entry, FunctionLog]
"""The host's journal: `Journal(FunctionLog, observe)`."""
