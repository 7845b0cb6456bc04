"""Offer the receiving side of the world's Service Bus client: the SDK's interface, messages and errors, without a connection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from azure.servicebus import NEXT_AVAILABLE_SESSION, ServiceBusReceivedMessage, ServiceBusSubQueue

from recoverable_local.service_bus.broker.entity import Entity
from recoverable_local.service_bus.broker.holding.messages import Message, Verb, Verdict
from recoverable_local.service_bus.broker.profile import DEAD_LETTERS
from recoverable_local.service_bus.broker.refusals import RefusedError, no_session_in_time, session_lock_lost
from recoverable_local.testing.azure.broker.contents import moment
from recoverable_local.testing.azure.sdk.calls import perform
from recoverable_local.testing.azure.sdk.client import received_message, sdk_error

Wait = Callable[[float], float]
DEFAULT_WAIT = 60.0
"""Seconds for which a receiver waits, unless it says otherwise."""


class Receiver:
    """Receives from a queue with peek-lock, as `azure.servicebus.ServiceBusReceiver`.

    Args:
        queue: the queue.
        wait: lets time pass until something happens, for so many seconds at most; returns how many it was.
        session_id: a session, or `NEXT_AVAILABLE_SESSION`; None for a queue without sessions.
        max_wait_time: seconds to wait for a first message.
    """

    settled = False

    def __init__(self, queue: Entity, wait: Wait, session_id: Any = None, max_wait_time: float | None = None) -> None:
        self.session_id: str | None = None
        self._queue, self._wait, self._asked = queue, wait, session_id
        self._max_wait = DEFAULT_WAIT if max_wait_time is None else max_wait_time
        self._room, self._got = 0, list[Message]()
        self._refused: RefusedError | None = None
        if not queue.profile.sessions:
            queue.receivers.add(self)

    def __enter__(self) -> Receiver:
        """Accept the session, if there are sessions."""
        perform(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop receiving; messages that are not settled keep their locks."""
        self.close()

    def close(self) -> None:
        """Stop receiving."""
        self._queue.leave(self)

    def receive_messages(
        self, max_message_count: int | None = 1, max_wait_time: float | None = None
    ) -> list[ServiceBusReceivedMessage]:
        """Return the messages that are there, or the first that come while it waits."""
        perform(self._accept)
        self._room, self._got = max_message_count or 1, []
        self._queue.receivers.dispatch()
        self._await(lambda: bool(self._got), self._max_wait if max_wait_time is None else max_wait_time)
        self._room = 0
        return [to_received(message) for message in self._got]

    def peek_messages(self, max_message_count: int = 1, *, sequence_number: int = 0) -> list[ServiceBusReceivedMessage]:
        """Look at messages without locking them."""
        found = self._queue.store.from_number(sequence_number)
        return [to_received(message) for message in list(found)[:max_message_count]]

    def receive_deferred_messages(self, sequence_numbers: int | Sequence[int]) -> list[ServiceBusReceivedMessage]:
        """Receive deferred messages by their numbers."""
        numbers = [sequence_numbers] if isinstance(sequence_numbers, int) else sequence_numbers
        taken = perform(lambda: self._queue.receive_deferred(numbers, settled=False))
        return [to_received(message) for message in taken]

    def complete_message(self, message: ServiceBusReceivedMessage) -> None:
        """Complete the message."""
        self._settle(message, Verdict(Verb.COMPLETE))

    def abandon_message(self, message: ServiceBusReceivedMessage) -> None:
        """Abandon the message: it is delivered again at once."""
        self._settle(message, Verdict(Verb.ABANDON))

    def defer_message(self, message: ServiceBusReceivedMessage) -> None:
        """Defer the message: from now on it is received by its number only."""
        self._settle(message, Verdict(Verb.DEFER))

    def dead_letter_message(
        self, message: ServiceBusReceivedMessage, reason: str | None = None, error_description: str | None = None
    ) -> None:
        """Dead-letter the message."""
        self._settle(message, Verdict(Verb.DEAD_LETTER, reason, error_description))

    def renew_message_lock(self, message: ServiceBusReceivedMessage) -> datetime:
        """Renew the lock; return until when it holds."""
        return moment(perform(lambda: self._queue.locks.renew(token_of(message))))

    @property
    def session(self) -> HeldSession | None:
        """Return the session that it holds; None when it holds none."""
        return None if self.session_id is None else HeldSession(self._queue, self.session_id)

    def ready(self) -> bool:
        """True if it can take a message now."""
        return len(self._got) < self._room

    def deliver(self, message: Message) -> None:
        """Take a message."""
        self._got.append(message)

    def session_accepted(self, session_id: str, until: float) -> None:  # noqa: ARG002  # the broker keeps the time
        """Take the messages of a session."""
        self.session_id = session_id
        self._queue.receivers.add(self)

    def dismissed(self, reason: RefusedError) -> None:
        """Note that the session is lost, or that none came in time."""
        self._refused = reason
        self._queue.leave(self)

    def _accept(self) -> None:
        if not self._queue.profile.sessions or self.session_id is not None:
            return
        if self._asked == NEXT_AVAILABLE_SESSION:
            self._queue.sessions.wait(self, self._max_wait)
            self._queue.receivers.dispatch()
            self._await(lambda: self.session_id is not None, self._max_wait)
        elif self._asked is not None:
            self._queue.sessions.accept(self, self._asked)
        if self.session_id is None:
            raise self._refused or no_session_in_time()

    def _settle(self, message: ServiceBusReceivedMessage, verdict: Verdict) -> None:
        if self.session_id is not None and not self._queue.sessions.held_by(self, self.session_id):
            raise sdk_error(session_lock_lost(self.session_id))
        perform(lambda: self._queue.settle(token_of(message), verdict))

    def _await(self, done: Callable[[], bool], seconds: float) -> None:
        while not done() and seconds > 0:
            seconds -= self._wait(seconds)


class HeldSession:
    """A session that a receiver holds, as `azure.servicebus.ServiceBusSession`.

    Args:
        queue: the queue.
        session_id: its name.
    """

    def __init__(self, queue: Entity, session_id: str) -> None:
        self._queue, self.session_id = queue, session_id

    @property
    def locked_until_utc(self) -> datetime:
        """Return until when it is held."""
        return moment(perform(lambda: self._queue.sessions.until(self.session_id)))

    def renew_lock(self) -> datetime:
        """Hold it for longer; return until when."""
        return moment(perform(lambda: self._queue.renew_session(self.session_id)))


def to_received(message: Message) -> ServiceBusReceivedMessage:
    """Return the message as the SDK gives it."""
    return received_message(message.encode())


def token_of(message: ServiceBusReceivedMessage) -> UUID:
    """Return the lock token under which it was received."""
    token = message.lock_token
    return token if isinstance(token, UUID) else UUID(int=0)


def path_of(queue: str, sub_queue: Any) -> str:
    """Return the path of a queue, or of its dead letters."""
    return queue + DEAD_LETTERS if sub_queue in (ServiceBusSubQueue.DEAD_LETTER, "deadletter") else queue
