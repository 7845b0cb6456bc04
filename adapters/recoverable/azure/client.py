"""Send copies to Service Bus, by a client of azure-servicebus."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

from recoverable.azure.copies import Copy, copy_of, in_order, smaller
from recoverable.azure.log import log_ambiguous_fields, log_failed_send
from recoverable.azure.process_client import client_for
from recoverable.azure.settings import connection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusMessageBatch, ServiceBusSender

    from recoverable.azure.settings import ConnectionString, Identity
    from recoverable.recovery.delivery import Delivery
    from recoverable.recovery.settlement import Forward

CALL_TIMEOUT = 30
"""Seconds for one call: half of Service Bus's default lock, and long enough to connect anew."""

MAX_SENDERS = 32
"""Each sender has a connection and a thread of its own, and a namespace takes 1,000 connections (Service Bus quotas,
Standard)."""


class CopyNotSent(Exception):
    """Raised when a copy could not be sent: the host then abandons the original, which is delivered again."""


class Broker:
    """A Service Bus namespace with the calls that settling needs.

    It keeps its senders, and one thread at a time uses them.

    Args:
        client: azure-servicebus's; it and its senders promise no safety between threads.
        timeout: seconds to wait for another thread, whose opening of a connection the SDK may never end.
    """

    def __init__(self, client: ServiceBusClient, timeout: float = CALL_TIMEOUT) -> None:
        self._client, self._lock, self._timeout = client, Lock(), timeout
        self._senders: dict[str, ServiceBusSender] = {}

    @property
    def namespace(self) -> str:
        """Return the namespace's fully qualified name."""
        return str(getattr(self._client, "fully_qualified_namespace", ""))

    def send(self, copies: list[Copy]) -> None:
        """Send the copies in their order; those that can share a batch go in one batch.

        Raises:
            CopyNotSent: one could not be sent; those after it are not tried, for they would be sent again.
        """
        groups: dict[tuple[str, str, str], list[Copy]] = {}
        for copy in copies:
            groups.setdefault(batch_key(copy), []).append(copy)
        for group in groups.values():
            self._send_group(group)

    def _send_group(self, copies: list[Copy]) -> None:
        try:
            with self._locked():
                sender = self._sender(copies[0].to)
                send_alone(sender, copies[0]) if len(copies) == 1 else send_together(sender, copies)
        except Exception as error:
            to = copies[0].to
            log_failed_send([copy.of for copy in copies], to, error)
            raise CopyNotSent(f"no copy could be sent to {to!r}: {type(error).__name__}: {error}") from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if not self._lock.acquire(timeout=self._timeout):
            raise TimeoutError(f"another thread has been sending copies for {self._timeout} s")
        try:
            yield
        finally:
            self._lock.release()

    def _sender(self, queue: str) -> ServiceBusSender:
        """Return the queue's sender; when there are too many, close the one that was not used for the longest time."""
        if queue not in self._senders and len(self._senders) == MAX_SENDERS:
            self._senders.pop(next(iter(self._senders))).close()
        sender = self._senders.pop(queue, None) or self._client.get_queue_sender(queue)
        self._senders[queue] = sender
        return sender


def batch_key(copy: Copy) -> tuple[str, str, str]:
    """Return the values that all messages of a batch must share (Service Bus, "Partitioned queues and topics")."""
    return copy.to, copy.fields.get("session_id", ""), copy.fields.get("partition_key", "")


def send_alone(sender: ServiceBusSender, copy: Copy) -> None:
    """Send one copy; while it is too large for this namespace, send it without its next fault header."""
    from azure.servicebus.exceptions import MessageSizeExceededError

    try:
        sender.send_messages(sdk_message(copy), timeout=CALL_TIMEOUT)
    except MessageSizeExceededError:
        if (less := smaller(copy)) is None:
            raise
        send_alone(sender, less)


def send_together(sender: ServiceBusSender, copies: list[Copy]) -> None:
    """Send copies in as few batches as Service Bus takes; a copy that is too large for a batch goes alone."""
    batch = sender.create_message_batch()
    for copy in copies:
        if not try_to_add(batch, copy):
            sender.send_messages(batch, timeout=CALL_TIMEOUT)
            batch = sender.create_message_batch()
            if not try_to_add(batch, copy):
                send_alone(sender, copy)
    sender.send_messages(batch, timeout=CALL_TIMEOUT)


def try_to_add(batch: ServiceBusMessageBatch, copy: Copy) -> bool:
    """Add the copy to the batch; return False if the batch has no room for it."""
    from azure.servicebus.exceptions import MessageSizeExceededError

    try:
        batch.add_message(sdk_message(copy))
    except MessageSizeExceededError:
        return False
    return True


def sdk_message(copy: Copy) -> ServiceBusMessage:
    """Return the copy as a message of azure-servicebus."""
    from azure.servicebus import ServiceBusMessage

    return ServiceBusMessage(**copy.fields)


def send_copies(
    forwards: list[tuple[Delivery, Forward]],
    client: ServiceBusClient | None,
    connection_name: str,
    *,
    queue: str,
    now: datetime,
    ambiguous: frozenset[str],
) -> None:
    """Make the copies and send them.

    Args:
        forwards: the originals of the copies, and where the copies go.
        client: the user's or a test's; None for the process's own.
        connection_name: the name under which the app settings hold the connection for the process's own client.
        queue: the queue that the messages came from.
        now: the time from which delays count.
        ambiguous: the text fields of which the host does not say which message has which.

    Raises:
        CopyNotSent: one could not be sent; those after it are not tried.
        ValueError: there is no such connection, or a message's error queue is the queue it came from.
    """
    if ambiguous:
        log_ambiguous_fields(ambiguous, queue)
    bus = broker(client, lambda: connection(connection_name, os.environ))
    bus.send(
        [
            copy_of(delivery, forward, namespace=bus.namespace, now=now, ambiguous=ambiguous)
            for delivery, forward in in_order(forwards)
        ]
    )


_MAKING = Lock()


def broker(client: ServiceBusClient | None, connect: Callable[[], ConnectionString | Identity]) -> Broker:
    """Return the broker of a client, or of the process's own; all threads get the same one.

    Args:
        client: the user's or a test's, if any.
        connect: returns the connection for the process's own client.
    """
    with _MAKING:
        return broker_of(client or client_for(connect()))


@lru_cache(maxsize=16)
def broker_of(client: ServiceBusClient) -> Broker:
    """Return the broker that keeps a client's senders."""
    return Broker(client)
