"""What sends copies to Service Bus, and the trigger as a blueprint: all that is asked of Azure's SDKs."""

from __future__ import annotations

import logging
import os
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from recoverable.azure.copies import Copy, copy_of, in_order, smaller
from recoverable.azure.process_client import client_for, with_extra
from recoverable.azure.settings import connection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from azure.functions import Blueprint
    from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusMessageBatch, ServiceBusSender

    from recoverable.azure.settings import ConnectionString, Identity
    from recoverable.recovery.delivery import Delivery
    from recoverable.recovery.settlement import Forward

log = logging.getLogger("recoverable.settlement")

PATIENCE = 30
"""Seconds for one call: half of Service Bus's default lock, and long enough to connect anew."""

MAX_SENDERS = 32
"""Each has a connection and a thread of its own, and a namespace takes 1,000 connections (Service Bus quotas, Standard)."""


class CopyNotSent(Exception):
    """Raised when a copy could not be sent: the host abandons what it was to replace, and that comes back."""


class Broker:
    """A Service Bus namespace, as far as settling needs it; its senders are kept, and used by one thread at a time.

    Args:
        client: azure-servicebus's; it and its senders promise no safety between threads.
        patience: seconds to wait for another thread, whose opening of a connection the SDK may never end.
    """

    def __init__(self, client: ServiceBusClient, patience: float = PATIENCE) -> None:
        self._client, self._lock, self._patience = client, Lock(), patience
        self._senders: dict[str, ServiceBusSender] = {}

    @property
    def namespace(self) -> str:
        """The namespace's fully qualified name."""
        return str(getattr(self._client, "fully_qualified_namespace", ""))

    def send(self, copies: list[Copy]) -> None:
        """Send the copies in their order, but those that can share a batch in one.

        Raises:
            CopyNotSent: one could not be sent; those after it are not tried, for they would be sent again.
        """
        groups: dict[tuple[str, str, str], list[Copy]] = {}
        for copy in copies:
            groups.setdefault(batch_of(copy), []).append(copy)
        for group in groups.values():
            self._send_group(group)

    def _send_group(self, copies: list[Copy]) -> None:
        try:
            with self._own_turn():
                sender = self._sender(copies[0].to)
                send_alone(sender, copies[0]) if len(copies) == 1 else send_together(sender, copies)
        except Exception as error:
            from recoverable.observe.log import log_safely

            ids, to = [copy.of for copy in copies], copies[0].to
            text = "Service Bus did not take the copies of %d messages for '%s': %s. As a result, they come back."
            extra = {"message_ids": ids, "queue": to}
            log_safely(log.warning, text, len(ids), to, type(error).__name__, extra=extra)
            raise CopyNotSent(f"no copy could be sent to {to!r}: {type(error).__name__}: {error}") from error

    @contextmanager
    def _own_turn(self) -> Iterator[None]:
        if not self._lock.acquire(timeout=self._patience):
            raise TimeoutError(f"other copies have been on their way for {self._patience} s")
        try:
            yield
        finally:
            self._lock.release()

    def _sender(self, queue: str) -> ServiceBusSender:
        """The queue's sender; that of the queue which nothing has gone to for the longest gives way to a new one."""
        if queue not in self._senders and len(self._senders) == MAX_SENDERS:
            self._senders.pop(next(iter(self._senders))).close()
        sender = self._senders.pop(queue, None) or self._client.get_queue_sender(queue)
        self._senders[queue] = sender
        return sender


def batch_of(copy: Copy) -> tuple[str, str, str]:
    """What the messages of one batch must share (Service Bus, "Partitioned queues and topics")."""
    return copy.to, copy.fields.get("session_id", ""), copy.fields.get("partition_key", "")


def send_alone(sender: ServiceBusSender, copy: Copy) -> None:
    """Send one copy; where it is too large for this namespace, without fault headers: they must not stand in its way."""
    from azure.servicebus.exceptions import MessageSizeExceededError

    try:
        sender.send_messages(sdk_message(copy), timeout=PATIENCE)
    except MessageSizeExceededError:
        if (less := smaller(copy)) is None:
            raise
        send_alone(sender, less)


def send_together(sender: ServiceBusSender, copies: list[Copy]) -> None:
    """Send copies in as few batches as Service Bus takes; what is too large for one goes alone."""
    batch = sender.create_message_batch()
    for copy in copies:
        if not added(batch, copy):
            sender.send_messages(batch, timeout=PATIENCE)
            batch = sender.create_message_batch()
            if not added(batch, copy):
                send_alone(sender, copy)
    sender.send_messages(batch, timeout=PATIENCE)


def added(batch: ServiceBusMessageBatch, copy: Copy) -> bool:
    """Whether the batch had room for the copy."""
    from azure.servicebus.exceptions import MessageSizeExceededError

    try:
        batch.add_message(sdk_message(copy))
    except MessageSizeExceededError:
        return False
    return True


def sdk_message(copy: Copy) -> ServiceBusMessage:
    """The copy as azure-servicebus has it."""
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
        forwards: what the copies are made of, and where they go.
        client: the user's or a test world's; None for the process's own.
        connection_name: the name under which the app settings hold the connection for the own one.
        queue: the queue that the messages came from.
        now: the time from which delays count.
        ambiguous: the fields of text that the host does not tell.

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


def log_ambiguous_fields(fields: frozenset[str], queue: str) -> None:
    """Log what copies do without: better no correlation id than that of another message."""
    from recoverable.observe.log import log_safely

    text = "The host does not tell which messages of this batch have which %s; their copies have none. Have each message of '%s' carry it, or none."
    log_safely(log.warning, text, ", ".join(sorted(fields)), queue, extra={"queue": queue})


_MAKING = Lock()


def broker(client: ServiceBusClient | None, connect: Callable[[], ConnectionString | Identity]) -> Broker:
    """The broker of a client, or of the process's own; two threads that fail first at once get the same.

    Args:
        client: the user's or a test world's, if any.
        connect: gives the connection for the own one.
    """
    with _MAKING:
        return broker_of(client or client_for(connect()))


@lru_cache(maxsize=16)
def broker_of(client: ServiceBusClient) -> Broker:
    """The broker that keeps a client's senders."""
    return Broker(client)


def blueprint(function: Callable[..., Any], name: str, **trigger: Any) -> Blueprint:
    """A function of that name behind a Service Bus trigger.

    Args:
        function: what the host calls, with the argument `message`.
        name: the function's name.
        trigger: the trigger's settings.

    Raises:
        ModuleNotFoundError: azure-functions is not installed.
    """
    try:
        from azure.functions import Blueprint, DataType
    except ModuleNotFoundError as error:
        raise with_extra(error) from error

    made = Blueprint()  # type: ignore[no-untyped-call]  # its __init__ has no annotations
    with_trigger = made.service_bus_queue_trigger(arg_name="message", data_type=DataType.BINARY, **trigger)
    made.function_name(name)(with_trigger(function))
    return made
