"""Inject faults: plan which operations on which entities fail, how, and how often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from recoverable_local.service_bus.broker.refusals import RefusedError

T = TypeVar("T")


class Operation(Enum):
    """An operation that a client requests, or the delivery of a message to it."""

    AUTHENTICATE = "put-token"
    ATTACH = "attach"
    SEND = "send"
    DELIVER = "deliver"
    COMPLETE = "complete"
    ABANDON = "abandon"
    DEFER = "defer"
    DEAD_LETTER = "dead-letter"
    RELEASE = "release"
    SCHEDULE = "schedule-message"
    CANCEL_SCHEDULED = "cancel-scheduled-message"
    PEEK = "peek-message"
    RENEW_LOCK = "renew-lock"
    RENEW_SESSION_LOCK = "renew-session-lock"
    RECEIVE_DEFERRED = "receive-by-sequence-number"
    GET_SESSION_STATE = "get-session-state"
    SET_SESSION_STATE = "set-session-state"
    LIST_SESSIONS = "get-message-sessions"
    LIST_RULES = "enumerate-rules"
    ADD_RULE = "add-rule"
    REMOVE_RULE = "remove-rule"


@dataclass(frozen=True, slots=True)
class Refuse:
    """A fault: the operation is not performed, and the client gets an error.

    Args:
        condition: The AMQP error condition, by which SDKs choose their exception.
        description: The text for the reader.
    """

    condition: str = "com.microsoft:server-busy"
    description: str = "The request was refused because the test planned this fault."


@dataclass(frozen=True, slots=True)
class LoseAnswer:
    """A fault: the operation is performed, and the client gets no answer. On a delivery the message is locked and not sent."""


@dataclass(frozen=True, slots=True)
class DropConnection:
    """A fault: the connection is aborted without a close frame.

    Args:
        done: True to perform the operation before that.
    """

    done: bool = False


Fault = Refuse | LoseAnswer | DropConnection


class SilencedError(Exception):
    """A fault suppresses the answer."""


class DroppedError(Exception):
    """A fault aborts the connection."""


@dataclass(slots=True)
class _Planned:
    operation: Operation
    path: str | None
    fault: Fault
    remaining: int | None

    def hits(self, operation: Operation, path: str) -> bool:
        if self.remaining == 0 or self.operation is not operation or self.path not in (None, path.lower()):
            return False
        self.remaining = None if self.remaining is None else self.remaining - 1
        return True


class Faults:
    """The planned faults. The first that matches an operation is applied to it."""

    def __init__(self) -> None:
        self._planned: list[_Planned] = []

    def plan(self, operation: Operation, fault: Fault, *, path: str | None, times: int | None) -> None:
        """Plan a fault for this many calls of an operation (None: for all), on one entity or on all."""
        self._planned.append(_Planned(operation, path.lower() if path else None, fault, times))

    def clear(self) -> None:
        """Remove all planned faults."""
        self._planned.clear()

    def perform(self, operation: Operation, path: str, act: Callable[[], T]) -> T:
        """Perform an operation, or apply the fault that is planned for it.

        Raises:
            RefusedError: A fault or the broker refuses the operation.
            SilencedError: The operation was performed, and must not be answered.
            DroppedError: The connection must be aborted.
        """
        fault = next((each.fault for each in self._planned if each.hits(operation, path)), None)
        match fault:
            case None:
                return act()
            case Refuse():
                raise RefusedError(fault.condition, fault.description, status=503)
            case LoseAnswer():
                act()
                raise SilencedError
            case DropConnection():
                if fault.done:
                    act()
                raise DroppedError
