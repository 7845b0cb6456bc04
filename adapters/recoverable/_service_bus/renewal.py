"""Keep a sender of one entity usable: renew its connection after a quiet time, and once after a reset."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from recoverable._limits import was_idle
from recoverable._service_bus.answers import failure_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from azure.servicebus import ServiceBusMessage, ServiceBusMessageBatch, ServiceBusSender

IDLE_LIMIT = 60
"""Seconds after which a connection is not trusted. Service Bus announces that it wants a frame every 120 s, and ends silent connections
after 240 s and idle links after 600 s ("AMQP errors in Azure Service Bus"); Azure's load balancers forget connections after 240 s."""


class RenewedSender:
    """A sender whose connection is renewed when it was idle, or when it was reset after it had carried a send.

    Args:
        make: returns a new sender of azure-servicebus, which connects at its first call.
        clock: returns the seconds of a clock that does not go back while the process runs; where it does, the connection is renewed.
    """

    def __init__(self, make: Callable[[], ServiceBusSender], clock: Callable[[], float]) -> None:
        self._make, self._clock = make, clock
        self._sender: ServiceBusSender | None = None
        self._used_at, self._has_carried = 0.0, False

    @property
    def entity_name(self) -> str:
        """Return the entity's name, as its sender has it; empty before the first call."""
        return str(getattr(self._sender, "entity_name", ""))

    def create_message_batch(self) -> ServiceBusMessageBatch:
        """Return an empty batch of the size that the entity takes."""
        return self._connected().create_message_batch()

    def send_messages(self, message: ServiceBusMessage | ServiceBusMessageBatch, *, timeout: float) -> None:
        """Send the message or the batch; after a reset of a connection that had carried a send, once more on a new one.

        It has the same id then. A reset of a new connection is not repeated: it is an unknown answer.

        Raises:
            ServiceBusError: the call was refused, or not answered.
        """
        sender, had_carried = self._connected(), self._has_carried
        try:
            self._send(sender, message, timeout)
        except Exception as error:
            if not (had_carried and failure_of(error).is_reset):
                raise
            self._send(self._connected(), message, timeout)

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        sender, self._sender, self._has_carried = self._sender, None, False
        if sender is not None:
            with suppress(Exception):  # it is used no more, and closing a broken connection may fail
                sender.close()

    def _connected(self) -> ServiceBusSender:
        """Return the sender, a new one if the connection was idle for too long."""
        now = self._clock()
        if was_idle(self._used_at, now, IDLE_LIMIT):
            self.close()
        self._used_at = now
        if self._sender is None:
            self._sender = self._make()
        return self._sender

    def _send(
        self, sender: ServiceBusSender, message: ServiceBusMessage | ServiceBusMessageBatch, timeout: float
    ) -> None:
        """Send once; without an answer, close the connection, which may be broken."""
        try:
            sender.send_messages(message, timeout=timeout)
        except Exception as error:
            if failure_of(error).is_unanswered:
                self.close()
            raise
        self._has_carried = True
