"""A call of the Service Bus client, and what can go wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from recoverable_local.service_bus.broker.refusals import RefusedError
from recoverable_local.testing.azure.places import CALLS
from recoverable_local.testing.azure.sdk.client import BUSY, no_answer, sdk_error, unreachable
from recoverable_local.testing.engine.invocation import Invocation, current_invocation
from recoverable_local.testing.engine.points import Misfortune, When
from recoverable_local.testing.faults import AnswerLost, Fault, Refused, Slow, Throttled, TimedOut, Unreachable
from recoverable_local.testing.timeline import Journal

T = TypeVar("T")


class Calls:
    """The calls of one process, one at a time, for the SDK's senders allow no more.

    Args:
        misfortune: what goes wrong.
        journal: told of calls that failed.
        now: the world's time in seconds.
    """

    def __init__(self, misfortune: Misfortune, journal: Journal, now: Callable[[], float]) -> None:
        self._misfortune, self._journal, self._now = misfortune, journal, now
        self._busy_until: float | None = None

    def wait(self) -> None:
        """Let time pass while another invocation of this process waits for the broker: who stood at a real lock would stop the world."""
        while (invocation := current_invocation.get()) is not None and self._busy_until is not None:
            invocation.spend(max(self._busy_until - self._now(), 0.0))

    def made(self, what: str, queue: str, do: Callable[[], T]) -> T:
        """Make a call, unless something goes wrong.

        Args:
            what: the call's name.
            queue: which queue it is about.
            do: does it.

        Raises:
            ServiceBusError: it was refused, or there was no answer.
        """
        invocation = current_invocation.get()
        if invocation is None or what not in CALLS:
            return performed(do)
        invocation.check_alive()
        try:
            result = self._under(self._fault("before", what, queue, invocation), do, invocation)
        except RefusedError as refused:
            self._note(invocation, queue, f"{what}: {refused.condition}: {refused.description}")
            raise sdk_error(refused) from None
        fault = self._fault("after", what, queue, invocation)
        if isinstance(fault, AnswerLost):
            raise no_answer()
        self._suffer(fault, invocation)
        return result

    def _under(self, fault: Fault | None, do: Callable[[], T], invocation: Invocation) -> T:
        match fault:
            case Refused(code, message, _):
                raise RefusedError(code, message)
            case Throttled():
                raise BUSY
            case Unreachable():
                raise unreachable()
            case AnswerLost():
                do()
                raise no_answer()
            case _:
                self._suffer(fault, invocation)
                return do()

    def _suffer(self, fault: Fault | None, invocation: Invocation) -> None:
        self._busy_until = self._now() + seconds_of(fault, invocation)
        try:
            invocation.suffer(fault)
        finally:
            self._busy_until = None

    def _fault(self, when: When, what: str, queue: str, invocation: Invocation) -> Fault | None:
        fault = self._misfortune.at(when, what, queue, invocation.message_ids, invocation.number)
        if fault is not None:
            self._note(invocation, queue, f"{what}: {fault}")
        return fault

    def _note(self, invocation: Invocation, queue: str, detail: str) -> None:
        for message_id in invocation.message_ids:
            self._journal.note("call failed", queue, message_id, detail)


def performed(do: Callable[[], T]) -> T:
    """Make a call with which nothing goes wrong but what the broker refuses.

    Raises:
        ServiceBusError: it does.
    """
    try:
        return do()
    except RefusedError as refused:
        raise sdk_error(refused) from None


def seconds_of(fault: Fault | None, invocation: Invocation) -> float:
    """How long a fault holds up the call."""
    match fault:
        case Slow(by):
            return by.total_seconds()
        case TimedOut():
            return invocation.remaining()
        case _:
            return 0.0
