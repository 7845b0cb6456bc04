"""Open a receiver of a Service Bus entity when it is first needed, and peek, receive and settle with it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recoverable_operate.errors._azure.answers import call_error
from recoverable_operate.errors._azure.entity import Entity
from recoverable_operate.errors._queue import OperateError

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusClient, ServiceBusReceivedMessage, ServiceBusReceiver

PEEKED = 100
"""Messages of one peek."""


class Receiver:
    """A receiver of an entity, or of one of its sessions.

    Args:
        client: makes the SDK's receiver.
        entity: the queue.
        session: the session; None for a queue without sessions.
        poll: seconds to wait for messages, or for the session.
    """

    def __init__(self, client: ServiceBusClient, entity: Entity, *, session: str | None, poll: float) -> None:
        self._client, self._entity, self.session, self._poll = client, entity, session, poll
        self._opened: ServiceBusReceiver | None = None

    @property
    def is_open(self) -> bool:
        """True if it is open."""
        return self._opened is not None

    def accept(self, opened: ServiceBusReceiver) -> None:
        """Use a receiver that is open already."""
        self._opened = opened

    def release(self) -> None:
        """Close it, which gives a session to others."""
        if self._opened is not None:
            self._opened.close()
        self._opened = None

    def peek(self, number: int) -> Sequence[ServiceBusReceivedMessage]:
        """Return the next messages from a sequence number on."""
        with call_error(self._entity.address):
            return self._open().peek_messages(PEEKED, sequence_number=number)

    def receive(self, count: int) -> Sequence[ServiceBusReceivedMessage]:
        """Lock the next messages at the head, as many as there are in time."""
        with call_error(self._entity.address):
            return self._open().receive_messages(count, max_wait_time=self._poll)

    def locked_until(self, message: ServiceBusReceivedMessage) -> datetime | None:
        """Return when a lock ends: the message's, or that of its session."""
        return message.locked_until_utc if self.session is None else self._open().session.locked_until_utc

    def renew(self, message: ServiceBusReceivedMessage) -> Any:
        """Renew a lock, and return when it ends: the message's, or that of its session."""
        opened = self._open()
        return opened.renew_message_lock(message) if self.session is None else opened.session.renew_lock()

    def complete(self, message: ServiceBusReceivedMessage) -> None:
        """Complete a message."""
        self._open().complete_message(message)

    def abandon(self, message: ServiceBusReceivedMessage) -> None:
        """Abandon a message, which counts a delivery."""
        self._open().abandon_message(message)

    def refused_for_sessions(self) -> bool:
        """True if the queue hands out its messages by session only; those who only listen cannot read its settings."""
        try:
            self.peek(1)
        except OperateError as error:
            why = str(error.__cause__)
            if "require" not in why or "session" not in why:
                raise
            self.release()
            return True
        return False

    def _open(self) -> ServiceBusReceiver:
        if self._opened is None:
            with call_error(self._entity.address):
                options = {} if self.session is None else {"session_id": self.session, "max_wait_time": self._poll}
                self._opened = receiver_of(self._client, self._entity, **options).__enter__()
        return self._opened


def receiver_of(client: ServiceBusClient, entity: Entity, **options: Any) -> ServiceBusReceiver:
    """Return a receiver of the entity, with peek-lock."""
    from azure.servicebus import ServiceBusSubQueue

    if entity.dead_letters:
        options["sub_queue"] = ServiceBusSubQueue.DEAD_LETTER
    if subscription := entity.subscription:
        return client.get_subscription_receiver(*subscription, **options)
    return client.get_queue_receiver(entity.path, **options)
