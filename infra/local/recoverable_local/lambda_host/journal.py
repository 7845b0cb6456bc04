"""Define the entries of the Lambda host's journal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from recoverable_local.decisions import Decided
from recoverable_local.journal import Journal as AnyJournal
from recoverable_local.lambda_host.records import Record, name_of
from recoverable_local.lambda_host.runtime.outcomes import Outcome


@dataclass(frozen=True, slots=True)
class Started:
    """A new instance of a function is ready."""

    function: str
    pid: int


@dataclass(frozen=True, slots=True)
class Invoked:
    """An instance got an event: the event of a batch, or that of a schedule, which has no records."""

    function: str
    request_id: str
    pid: int
    records: tuple[Record, ...]

    @property
    def message_ids(self) -> list[str]:
        """Return the ids of its messages, as their handlers know them."""
        return list(map(name_of, self.records))


@dataclass(frozen=True, slots=True)
class Ended:
    """An invocation is over and its batch, if it had one, is settled.

    Args:
        function: The function's name.
        request_id: The same as in the entry `Invoked`.
        pid: The instance's process.
        duration: From sending the event to the instance to the outcome.
        outcome: How it ended.
        completed: The ids of the messages that were deleted, as their handlers know them.
        failed: The ids of the messages that come back.
        reason: Why the whole batch or the schedule's invocation failed, or why messages reported as failed were deleted; else None.
        after: How long after now they come back; None for when their visibility timeout ends.
    """

    function: str
    request_id: str
    pid: int
    duration: timedelta
    outcome: Outcome
    completed: tuple[str, ...]
    failed: tuple[str, ...]
    reason: str | None
    after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Throttled:
    """All instances of the reserved concurrency are busy.

    A batch waits for an instance until its visibility timeout, a schedule until its next invocation.
    """

    function: str
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Expired:
    """No instance became free in time. The messages of a batch are visible on the queue again; a schedule skips this invocation."""

    function: str
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilteredOut:
    """Messages passed no filter of a mapping, and were deleted, as Lambda does."""

    mapping: str
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FunctionLog:
    """One line that a function wrote to its standard output or error."""

    function: str
    pid: int
    line: str


@dataclass(frozen=True, slots=True)
class BrokerTrouble:
    """A call to the broker failed; `then` is what happens next."""

    call: str
    error: str
    then: str


Entry = Started | Invoked | Decided | Ended | Throttled | Expired | FilteredOut | FunctionLog | BrokerTrouble
Observer = Callable[[Entry], None]
Journal: TypeAlias = AnyJournal[Entry, FunctionLog]
"""The host's journal: `Journal(FunctionLog, observe)`."""
