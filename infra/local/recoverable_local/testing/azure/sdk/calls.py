"""Make the calls of the Service Bus client, with their faults."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from recoverable_local.service_bus.broker.refusals import RefusedError
from recoverable_local.testing.azure.fault_points import CALLS
from recoverable_local.testing.azure.sdk.client import BUSY, no_answer_error, reset_error, sdk_error, unreachable_error
from recoverable_local.testing.engine.connection import Connection
from recoverable_local.testing.engine.fault_plan import FaultPlan, When
from recoverable_local.testing.engine.invocation import Invocation, current_invocation
from recoverable_local.testing.faults import (
    AnswerLost,
    ConnectionReset,
    Fault,
    Refused,
    Slow,
    Throttled,
    TimedOut,
    Unreachable,
)
from recoverable_local.testing.timeline import Journal

T = TypeVar("T")


class Calls:
    """The calls of one process, one at a time for each queue, because the SDK's senders are not thread-safe.

    Args:
        fault_plan: decides which faults happen.
        journal: records calls that failed.
        now: the world's time in seconds.
    """

    def __init__(self, fault_plan: FaultPlan, journal: Journal, now: Callable[[], float]) -> None:
        self._fault_plan, self._journal, self._now = fault_plan, journal, now
        self._busy_until: dict[str, float] = {}

    def wait(self, queue: str) -> None:
        """Let time pass while another invocation of this process calls the queue; waiting at a real lock would stop the world."""
        while (invocation := current_invocation.get()) is not None and queue in self._busy_until:
            invocation.spend(max(self._busy_until[queue] - self._now(), 0.0))

    def connection(self, forgotten_after: float) -> Connection:
        """Return a new connection, not yet open, which Service Bus ends when it was idle for so many seconds."""
        return Connection(self._now, forgotten_after)

    def make(self, what: str, queue: str, do: Callable[[], T], connection: Connection) -> T:
        """Make a call, with its faults.

        Args:
            what: the call's name.
            queue: the queue that it is about.
            do: does it.
            connection: the connection that it uses.

        Raises:
            ServiceBusError: the call was refused, or not answered.
        """
        invocation = current_invocation.get()
        if invocation is None or what not in CALLS:
            return perform(do)
        invocation.check_alive()
        fault = self._fault("before", what, queue, invocation)
        if fault is None and connection.is_forgotten():
            fault = self._noted(ConnectionReset(), what, queue, invocation)
        try:
            result = self._call_with_fault(fault, queue, do, invocation, connection)
        except RefusedError as refused:
            self._note(invocation, queue, f"{what}: {refused.condition}: {refused.description}")
            raise sdk_error(refused) from None
        fault = self._fault("after", what, queue, invocation)
        if isinstance(fault, AnswerLost):
            raise no_answer_error()
        self._apply_fault(fault, queue, invocation)
        return result

    def _call_with_fault(
        self, fault: Fault | None, queue: str, do: Callable[[], T], invocation: Invocation, connection: Connection
    ) -> T:
        connection.use()
        match fault:
            case Refused(code, message, _):
                raise RefusedError(code, message)
            case Throttled():
                raise BUSY
            case Unreachable():
                connection.close()
                raise unreachable_error()
            case ConnectionReset(done=done):
                connection.close()
                if done:
                    do()
                raise reset_error()
            case AnswerLost():
                do()
                raise no_answer_error()
            case _:
                self._apply_fault(fault, queue, invocation)
                return do()

    def _apply_fault(self, fault: Fault | None, queue: str, invocation: Invocation) -> None:
        self._busy_until[queue] = self._now() + seconds_of(fault, invocation)
        try:
            invocation.apply_fault(fault)
        finally:
            del self._busy_until[queue]

    def _fault(self, when: When, what: str, queue: str, invocation: Invocation) -> Fault | None:
        fault = self._fault_plan.fault_at(when, what, queue, invocation.message_ids, invocation.number)
        return fault and self._noted(fault, what, queue, invocation)

    def _noted(self, fault: Fault, what: str, queue: str, invocation: Invocation) -> Fault:
        """Record a fault, and return it."""
        self._note(invocation, queue, f"{what}: {fault}")
        return fault

    def _note(self, invocation: Invocation, queue: str, detail: str) -> None:
        for message_id in invocation.message_ids:
            self._journal.note("call failed", queue, message_id, detail)


def perform(do: Callable[[], T]) -> T:
    """Make a call without injected faults; raise the broker's refusal as the SDK does.

    Raises:
        ServiceBusError: it does.
    """
    try:
        return do()
    except RefusedError as refused:
        raise sdk_error(refused) from None


def seconds_of(fault: Fault | None, invocation: Invocation) -> float:
    """Return how many seconds a fault delays the call."""
    match fault:
        case Slow(by):
            return by.total_seconds()
        case TimedOut():
            return invocation.remaining()
        case _:
            return 0.0
