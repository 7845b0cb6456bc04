"""What the host saw happen: frozen entries for its journal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from recoverable_local.journal import Journal as AnyJournal
from recoverable_local.lambda_host.records import Record
from recoverable_local.lambda_host.runtime.outcomes import Outcome


@dataclass(frozen=True, slots=True)
class Started:
    """A new instance of a function is ready."""

    function: str
    pid: int


@dataclass(frozen=True, slots=True)
class Invoked:
    """An instance was given an event: that of a batch, or one without records of a schedule."""

    function: str
    request_id: str
    pid: int
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Ended:
    """An invocation is over and its batch, if it had one, is settled.

    Args:
        function: The function's name.
        request_id: That of the entry `Invoked`.
        pid: The instance's process.
        duration: From handing over the event to the outcome.
        outcome: How it ended.
        completed: The ids of the messages that were deleted.
        failed: The ids of those that come back after their visibility timeout.
        reason: Why the whole batch, or the invocation of a schedule, failed, if it did; or why what failed was deleted.
    """

    function: str
    request_id: str
    pid: int
    duration: timedelta
    outcome: Outcome
    completed: tuple[str, ...]
    failed: tuple[str, ...]
    reason: str | None


@dataclass(frozen=True, slots=True)
class Throttled:
    """No instance was free within the reserved concurrency; a batch waits for one until its visibility timeout, a schedule until its next."""

    function: str
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Expired:
    """What was throttled is given up: the messages of a batch, if it is one, are on the queue again, for their visibility timeout is over."""

    function: str
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FunctionLog:
    """One line that a function wrote to its standard output or error."""

    function: str
    pid: int
    line: str


@dataclass(frozen=True, slots=True)
class BrokerTrouble:
    """A call to the broker failed; `then` says what the host does next."""

    call: str
    error: str
    then: str


Entry = Started | Invoked | Ended | Throttled | Expired | FunctionLog | BrokerTrouble
Observer = Callable[[Entry], None]
Journal: TypeAlias = AnyJournal[Entry, FunctionLog]
"""The host's journal: `Journal(FunctionLog, observe)`."""
