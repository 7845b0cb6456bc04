"""Record each attempt that an endpoint makes, and inject faults around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from recoverable import Message
from recoverable.hosting import is_coroutine_function
from recoverable_local.testing.engine.fault_plan import FaultPlan, When
from recoverable_local.testing.engine.invocation import Invocation
from recoverable_local.testing.timeline import Journal, how_it_failed

Handler = Callable[[Message], Any]


class Attempts:
    """Observes the handlers of one invocation.

    Args:
        invocation: the invocation.
        numbered: the broker's ids of its messages by their sequence numbers.
        fault_plan: decides which faults happen before and after an attempt.
        journal: records how each attempt ended.
    """

    def __init__(
        self, invocation: Invocation, numbered: Mapping[int, str], fault_plan: FaultPlan, journal: Journal
    ) -> None:
        self._invocation, self._numbered = invocation, numbered
        self._fault_plan, self._journal = fault_plan, journal

    def wrap_handler(self, handler: Handler) -> Handler:
        """Return the handler with recording and faults around it; a coroutine function stays one."""
        if is_coroutine_function(handler):

            async def wrapped_coroutine(message: Message) -> Any:
                with self._attempt(message):
                    return await handler(message)

            return wrapped_coroutine

        def wrapped(message: Message) -> Any:
            with self._attempt(message):
                return handler(message)

        return wrapped

    @contextmanager
    def _attempt(self, message: Message) -> Iterator[None]:
        ids = self._invocation.message_ids
        broker_id = self._numbered.get(message.native.sequence_number, ids[0])
        self._invocation.check_alive()  # a dead process makes no retry
        try:
            self._apply_fault("before", broker_id)
            yield
            self._apply_fault("after", broker_id)
        except BaseException as error:
            self._note(broker_id, how_it_failed(error))
            raise
        self._note(broker_id, "succeeded")

    def _apply_fault(self, when: When, broker_id: str) -> None:
        invocation = self._invocation
        fault = self._fault_plan.fault_at(when, "attempt", invocation.queue, (broker_id,), invocation.number)
        invocation.apply_fault(fault)

    def _note(self, broker_id: str, how: str) -> None:
        self._journal.note("attempted", self._invocation.queue, broker_id, how)
