"""What the host saw happen: frozen entries for its journal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, TypeAlias

from recoverable_local.functions_host.worker.outcomes import Outcome
from recoverable_local.journal import Journal as AnyJournal

Settled = Literal["completed", "abandoned", "left"]
"""What the host did with an invocation's messages; those that it left come back when their locks end."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """A message as it was given to a function; its first delivery counts 1."""

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
    """A function was given messages."""

    function: str
    invocation_id: str
    messages: tuple[Delivered, ...]


@dataclass(frozen=True, slots=True)
class Ended:
    """An invocation is over.

    Args:
        function: The function's name.
        invocation_id: That of the entry `Invoked`.
        duration: From receiving the messages to the outcome.
        outcome: How it ended.
        settled: What the host did with the messages.
    """

    function: str
    invocation_id: str
    duration: timedelta
    outcome: Outcome
    settled: Settled


@dataclass(frozen=True, slots=True)
class FunctionLog:
    """One line that a worker wrote to its standard output or error."""

    pid: int
    line: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something failed that is not the function; `then` says what the host does next."""

    what: str
    error: str
    then: str


Entry = Started | Invoked | Ended | FunctionLog | Trouble
Observer = Callable[[Entry], None]
Journal: TypeAlias = AnyJournal[Entry, FunctionLog]
"""The host's journal: `Journal(FunctionLog, observe)`."""
