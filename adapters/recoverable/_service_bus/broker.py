"""Send copies to Service Bus, by a client of azure-servicebus."""

from __future__ import annotations

import os
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

from recoverable._service_bus.app_settings import connection
from recoverable._service_bus.batches import CALL_TIMEOUT, batch_key, note, send_group
from recoverable._service_bus.clients import client_for
from recoverable._service_bus.group_commit import GroupCommit, Parcel
from recoverable.azure._copies import Copy, copy_of
from recoverable.azure._sending.deliver import Sending, deliver, in_sending_order
from recoverable.azure._sending.fallbacks import ways
from recoverable.azure._sending.letter import Letter

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from azure.servicebus import ServiceBusClient, ServiceBusSender

    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.settlement import Forward
    from recoverable._service_bus.app_settings import ConnectionString, Identity
    from recoverable.azure._sending.fallbacks import Way
    from recoverable.hosting import Environment

MAX_SENDERS = 32
"""Each sender has a connection and a thread of its own, and a namespace takes 1,000 connections (Service Bus quotas,
Standard)."""


class CopyNotSent(Exception):
    """Raised when a copy could not be sent: the host then abandons the original, which is delivered again."""

    __module__ = "recoverable.azure"  # the name under which users import it


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
        _ = (
            self.namespace
        )  # a client of a test world waits here in its own time; at the lock it would wait in real time
        return self._waiting.send(copies, alone=alone) if copies else []

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


def send_copies(
    forwards: list[tuple[Delivery, Forward]],
    environment: Environment,
    connection_name: str,
    *,
    error_queue: str,
    batch: bool,
    patience: timedelta,
    settle: Callable[[Delivery, Forward], None],
) -> list[Letter]:
    """Make the copies and send them; return what no queue took.

    Args:
        forwards: the originals of the copies, and where the copies go.
        environment: has the client, if not the process's own, the time from which delays count, and what waits.
        connection_name: the name under which the app settings hold the connection for the process's own client.
        error_queue: the configured error queue.
        batch: True if all messages are redelivered together.
        patience: for how long sends are repeated.
        settle: records the settlement that took the place of the one that was decided.

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
        if letter.replacement is not None:
            settle(letter.delivery, letter.replacement)
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
