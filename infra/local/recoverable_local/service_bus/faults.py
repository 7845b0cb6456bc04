"""What goes wrong on purpose: which operations on which entities, how, and how often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from recoverable_local.service_bus.broker.refusals import RefusedError

T = TypeVar("T")


class Operation(Enum):
    """What a client asks for, and the delivery of a message to it."""

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


@dataclass(frozen=True, slots=True)
class Refuse:
    """It is not done, and the client hears why.

    Args:
        condition: The AMQP error condition, by which SDKs choose their exception.
        description: What a person reads.
    """

    condition: str = "com.microsoft:server-busy"
    description: str = "The request was refused, since the test wants it so."


@dataclass(frozen=True, slots=True)
class LoseAnswer:
    """It is done, and the client never hears of it; a message is locked, and never comes."""


@dataclass(frozen=True, slots=True)
class DropConnection:
    """The connection ends without a word.

    Args:
        done: Whether what was asked for is done before.
    """

    done: bool = False


Fault = Refuse | LoseAnswer | DropConnection


class SilencedError(Exception):
    """There is to be no answer."""


class DroppedError(Exception):
    """The connection is to end at once."""


@dataclass(slots=True)
class _Planned:
    operation: Operation
    path: str | None
    fault: Fault
    left: int | None

    def hits(self, operation: Operation, path: str) -> bool:
        if self.left == 0 or self.operation is not operation or self.path not in (None, path.lower()):
            return False
        self.left = None if self.left is None else self.left - 1
        return True


class Faults:
    """The faults that are planned, the first of which that fits happens."""

    def __init__(self) -> None:
        self._planned: list[_Planned] = []

    def plan(self, operation: Operation, fault: Fault, *, path: str | None, times: int | None) -> None:
        """Let an operation fail so many times, on one entity or on all."""
        self._planned.append(_Planned(operation, path.lower() if path else None, fault, times))

    def clear(self) -> None:
        """Let nothing fail any more."""
        self._planned.clear()

    def perform(self, operation: Operation, path: str, act: Callable[[], T]) -> T:
        """Do something, unless a fault is planned for it.

        Raises:
            RefusedError: A fault refuses it, or the broker does.
            SilencedError: It is done, and is not to be answered.
            DroppedError: The connection is to end.
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
