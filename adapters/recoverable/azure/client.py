"""Send copies to Service Bus, by a client of azure-servicebus."""

from __future__ import annotations

import os
from functools import lru_cache, partial
from threading import Lock
from typing import TYPE_CHECKING

from recoverable.azure.copies import Copy, copy_of, smaller
from recoverable.azure.host.app_settings import connection
from recoverable.azure.process_client import client_for
from recoverable.azure.sending.deliver import Sending, deliver, in_sending_order
from recoverable.azure.sending.fallbacks import ways
from recoverable.azure.sending.group_commit import GroupCommit, Parcel
from recoverable.azure.sending.letter import Letter
from recoverable.azure.sending.refusals_client import refusal_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import timedelta

    from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusMessageBatch, ServiceBusSender

    from recoverable.azure.host.app_settings import ConnectionString, Identity
    from recoverable.azure.sending.fallbacks import Way
    from recoverable.environment import Environment
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

    It keeps its senders, and one thread at a time uses them; that thread sends what others wait to send too.

    Args:
        client: azure-servicebus's; it and its senders promise no safety between threads.
        timeout: seconds to wait for another thread, whose opening of a connection the SDK may never end.
    """

    def __init__(self, client: ServiceBusClient, timeout: float = CALL_TIMEOUT) -> None:
        self._client, self._senders = client, dict[str, "ServiceBusSender"]()
        self._waiting = GroupCommit(self._send_parcels, timeout)

    @property
    def namespace(self) -> str:
        """Return the namespace's fully qualified name."""
        return str(getattr(self._client, "fully_qualified_namespace", ""))

    def send(self, copies: list[Copy], *, alone: bool = False) -> list[Exception | None]:
        """Send the copies in their order; those that can share a batch go in one batch, with those of other threads.

        Return for each the reason why it was not sent, or None. A batch is taken or refused as a whole.

        Args:
            copies: the copies.
            alone: True if none may share a batch.
        """
        return self._waiting.send(copies, alone=alone)

    def _send_parcels(self, parcels: list[Parcel]) -> None:
        groups: dict[object, list[Parcel]] = {}
        for parcel in parcels:
            groups.setdefault(parcel if parcel.alone else batch_key(parcel.copy), []).append(parcel)
        for each in groups.values():
            if group := [parcel for parcel in each if not parcel.comes_too_late]:
                try:
                    sender = self._sender(group[0].copy.to)
                except Exception as error:  # noqa: BLE001  # each who waits for a parcel is told
                    note(group, error)
                else:
                    send_group(sender, group)

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


def send_group(sender: ServiceBusSender, parcels: list[Parcel]) -> None:
    """Send parcels of one batch key in as few batches as Service Bus takes, and note on each why it was not sent."""
    if len(parcels) == 1:
        attempt(parcels, partial(send_alone, sender, parcels[0].copy))
        return
    for batch, members in batches(sender, parcels):
        attempt(members, partial(sender.send_messages, batch, timeout=CALL_TIMEOUT))


def batches(sender: ServiceBusSender, parcels: list[Parcel]) -> Iterator[tuple[ServiceBusMessageBatch, list[Parcel]]]:
    """Yield batches and what is in them; what is too large for a batch is sent alone, and what cannot be encoded is noted."""
    try:
        batch, members = sender.create_message_batch(), list[Parcel]()
    except Exception as error:  # noqa: BLE001  # it opens the connection
        note(parcels, error)
        return
    for parcel in parcels:
        if parcel.comes_too_late:
            continue
        try:
            fits = try_to_add(batch, parcel.copy)
            if not fits and members:
                yield batch, members
                batch, members = sender.create_message_batch(), []
                fits = try_to_add(batch, parcel.copy)
        except (TypeError, ValueError) as error:
            parcel.error = error
            continue
        if fits:
            members.append(parcel)
        else:
            attempt([parcel], partial(send_alone, sender, parcel.copy))
    if members:
        yield batch, members


def attempt(parcels: list[Parcel], send: Callable[[], None]) -> None:
    """Send, and note on the parcels why it failed, if it does."""
    try:
        send()
    except Exception as error:  # noqa: BLE001  # each who waits for a parcel is told
        note(parcels, error)
    else:
        note(parcels, None)


def note(parcels: list[Parcel], error: Exception | None) -> None:
    """Note on parcels why they were not sent; None when they were."""
    for parcel in parcels:
        parcel.error = error


def send_alone(sender: ServiceBusSender, copy: Copy) -> None:
    """Send one copy; while it breaks a limit of this namespace, send it without its next fault header."""
    try:
        sender.send_messages(sdk_message(copy), timeout=CALL_TIMEOUT)
    except Exception as error:
        if refusal_of(error) != "limit" or (less := smaller(copy)) is None:
            raise
        send_alone(sender, less)


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
    environment: Environment,
    connection_name: str,
    *,
    error_queue: str,
    batch: bool,
    patience: timedelta,
) -> list[Letter]:
    """Make the copies and send them; return what no queue took.

    Args:
        forwards: the originals of the copies, and where the copies go.
        environment: has the client, if not the process's own, the time from which delays count, and what waits.
        connection_name: the name under which the app settings hold the connection for the process's own client.
        error_queue: the configured error queue.
        batch: True if all messages are redelivered together.
        patience: for how long sends are repeated.

    Raises:
        ValueError: there is no such connection.
    """
    bus = broker(environment.client, lambda: connection(connection_name, os.environ))
    now = environment.clock()

    def copy(delivery: Delivery, way: Way) -> Copy:
        return copy_of(delivery, way.forward, namespace=bus.namespace, now=now)

    letters = [Letter(each, ways(each, to, error_queue=error_queue, batch=batch)) for each, to in forwards]
    sending = Sending(copy, bus.send, connection_name, patience, environment.sleep, environment.clock)
    left = deliver(in_sending_order(letters), sending)
    for letter in letters:
        letter.note_replacement()
    return left


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
