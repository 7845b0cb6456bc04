"""How the world sees each attempt that an endpoint makes, and lets things go wrong around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from recoverable.attempts.handlers import is_coroutine_function
from recoverable.message import Message
from recoverable_local.testing.engine.invocation import Invocation
from recoverable_local.testing.engine.points import Misfortune, When
from recoverable_local.testing.timeline import Journal

Handler = Callable[[Message], Any]


class Attempts:
    """Watches the handlers of one invocation.

    Args:
        invocation: the invocation.
        numbered: the broker's ids of its messages by their sequence numbers.
        misfortune: what goes wrong before and after an attempt.
        journal: told how each attempt ended.
    """

    def __init__(
        self, invocation: Invocation, numbered: Mapping[int, str], misfortune: Misfortune, journal: Journal
    ) -> None:
        self._invocation, self._numbered = invocation, numbered
        self._misfortune, self._journal = misfortune, journal

    def watched(self, handler: Handler) -> Handler:
        """The handler, watched; it stays what it is, plain or coroutine."""
        if is_coroutine_function(handler):

            async def awaited(message: Message) -> Any:
                with self._attempt(message):
                    return await handler(message)

            return awaited

        def called(message: Message) -> Any:
            with self._attempt(message):
                return handler(message)

        return called

    @contextmanager
    def _attempt(self, message: Message) -> Iterator[None]:
        ids = self._invocation.message_ids
        broker_id = self._numbered.get(message.native.sequence_number, ids[0])
        try:
            self._suffer("before", broker_id)
            yield
            self._suffer("after", broker_id)
        except BaseException as error:
            self._note(broker_id, ": ".join(filter(None, (type(error).__name__, str(error)))))
            raise
        self._note(broker_id, "succeeded")

    def _suffer(self, when: When, broker_id: str) -> None:
        invocation = self._invocation
        fault = self._misfortune.at(when, "attempt", invocation.queue, (broker_id,), invocation.number)
        invocation.suffer(fault)

    def _note(self, broker_id: str, how: str) -> None:
        self._journal.note("attempted", self._invocation.queue, broker_id, how)
