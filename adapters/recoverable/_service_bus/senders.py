"""Send copies to the entities of a namespace: for each entity one thread at a time, together with what others wait to send there."""

from __future__ import annotations

from contextlib import closing, suppress
from datetime import timedelta
from functools import lru_cache, partial
from itertools import filterfalse
from operator import attrgetter
from threading import Condition, Lock
from time import monotonic
from typing import TYPE_CHECKING

from recoverable._limits import NO_DELAY
from recoverable._service_bus.answers import UNTRIED, Failure, failure_of
from recoverable._service_bus.clients import client_for
from recoverable._service_bus.renewal import RenewedSender
from recoverable._service_bus.wire import Copy, sdk_message, smaller

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import Protocol

    from azure.servicebus import ServiceBusClient, ServiceBusMessageBatch

    from recoverable._service_bus.app_settings import ConnectionString, Identity

    class Time(Protocol):
        """A clock, and what waits for so many seconds: what sending needs of an invocation's environment."""

        clock: Callable[[], datetime]
        sleep: Callable[[float], None]


CALL_TIMEOUT = 30
"""Seconds for one call: half of Service Bus's default lock, and long enough to connect anew."""

MAX_SENDERS = 32
"""Each sender has a connection of its own, and a namespace takes 1,000 (Service Bus quotas, Standard)."""

NO_KEEP_ALIVE = 0
"""A thread would keep the connection alive, not the link; closing would wait for that thread for up to a second."""

REMEMBERED = timedelta(seconds=2)
"""For how long an entity that is missing or busy is not asked again: its messages wait, then go together."""


class Parcel:
    """A copy that waits for the senders.

    Args:
        copy: the copy.
        refusals: why parcels of the same call were refused: after the first none is sent any more.
        alone: True if it must share no batch: one that was refused is then known to be refused itself.

    `done` is True when somebody has tried to send it; `failure` is the reason why it was not sent, None once it was.
    """

    __slots__ = ("_refusals", "alone", "copy", "done", "failure")

    def __init__(self, copy: Copy, refusals: list[Failure], *, alone: bool) -> None:
        self.copy, self._refusals, self.alone, self.done = copy, refusals, alone, False
        self.failure: Failure | None = UNTRIED

    @property
    def comes_too_late(self) -> bool:
        """True if a parcel of the same call was refused: all messages of the call are redelivered, and what is sent is sent again."""
        return bool(self._refusals)

    def note(self, failure: Failure | None) -> None:
        """Note why it was not sent; None when it was."""
        self.failure = failure
        if failure is not None:
            self._refusals.append(failure)


class GroupCommit:
    """A way to a sender for one thread at a time, which takes along what other threads have to send.

    Args:
        send: sends parcels, and notes on each why it was not sent; it does not raise.
        timeout: seconds to wait for another thread, whose opening of a connection the SDK may never end.
    """

    def __init__(self, send: Callable[[list[Parcel]], None], timeout: float) -> None:
        self._send, self._timeout = send, timeout
        self._changed, self._is_sending, self._waiting = Condition(), False, list[Parcel]()

    def send(self, parcels: list[Parcel]) -> None:
        """Send the parcels, at least one, or wait until another thread has."""
        with self._changed:
            self._waiting += parcels
            if not self._changed.wait_for(lambda: parcels[0].done or not self._is_sending, self._timeout):
                self._withdraw(parcels)
                return
            if parcels[0].done:  # by another thread, which took all that waited
                return
            taken, self._waiting, self._is_sending = self._waiting, [], True
        try:
            self._send(taken)
        finally:
            self._finish(taken)

    def _finish(self, taken: list[Parcel]) -> None:
        """Wake those whose parcels were sent, and let the next thread send."""
        with self._changed:
            self._is_sending = False
            for parcel in taken:
                parcel.done = True
            self._changed.notify_all()

    def _withdraw(self, parcels: list[Parcel]) -> None:
        """Take back what was not sent; what the other thread has taken may still be."""
        self._waiting = [parcel for parcel in self._waiting if parcel not in parcels]
        note(parcels, failure_of(TimeoutError(f"another thread has been sending copies for {self._timeout} s")))


class Entity:
    """A queue or topic: its sender, which one thread at a time uses, and when it last refused whatever it gets.

    Args:
        sender: the sender.
        timeout: seconds to wait for another thread.

    `users` is how many threads are about to send, or do.
    """

    def __init__(self, sender: RenewedSender, timeout: float) -> None:
        self.sender, self.users = sender, 0
        self._refused_at: datetime | None = None
        self._commit = GroupCommit(self._send_parcels, timeout)

    def send(self, parcels: list[Parcel], environment: Time) -> None:
        """Send the parcels, and note on each why it was not sent; while the entity is remembered as missing or busy, wait first.

        Args:
            parcels: at least one.
            environment: has the clock, and what waits.
        """
        # a sender of a test world waits here in its own time; at the lock it would wait in real time
        _ = self.sender.entity_name
        if self._refused_at is not None and (rest := self._refused_at + REMEMBERED - environment.clock()) > NO_DELAY:
            environment.sleep(min(rest, REMEMBERED).total_seconds())
        self._commit.send(parcels)
        refused = any(parcel.failure is not None and parcel.failure.is_of_the_entity for parcel in parcels)
        self._refused_at = environment.clock() if refused else None

    def _send_parcels(self, parcels: list[Parcel]) -> None:
        groups: dict[object, list[Parcel]] = {}
        for parcel in parcels:
            groups.setdefault(parcel if parcel.alone else batch_key(parcel.copy), []).append(parcel)
        for each in groups.values():
            if group := [parcel for parcel in each if not parcel.comes_too_late]:
                send_group(self.sender, group)
                if (failure := group[-1].failure) is not None and failure.is_of_the_entity:
                    note([parcel for parcel in parcels if parcel.failure is UNTRIED], failure)
                    return


class Broker:
    """A Service Bus namespace with the calls that settling needs. It keeps its senders.

    Args:
        client: azure-servicebus's; it and its senders promise no safety between threads.
        timeout: seconds to wait for another thread, whose opening of a connection the SDK may never end.
        clock: returns the seconds of a clock, for how long a connection was idle.

    `namespace` is its fully qualified name.
    """

    def __init__(
        self, client: ServiceBusClient, timeout: float = CALL_TIMEOUT, clock: Callable[[], float] = monotonic
    ) -> None:
        self.client, self._timeout, self._clock = client, timeout, clock
        self._changing, self._entities = Lock(), dict[str, Entity]()
        self.namespace = str(getattr(client, "fully_qualified_namespace", ""))

    def send(self, copies: list[Copy], environment: Time, *, alone: bool = False) -> list[Failure | None]:
        """Send the copies, to each entity in their order; those that can share a batch go in one batch, with those of other threads.

        Return for each the reason why it was not sent, or None. A batch is taken or refused as a whole.

        Args:
            copies: the copies.
            environment: has the clock, and what waits.
            alone: True if none may share a batch.
        """
        refusals, by_entity = list[Failure](), dict[str, list[Parcel]]()
        parcels = [Parcel(copy, refusals, alone=alone) for copy in copies]
        for parcel in parcels:
            by_entity.setdefault(parcel.copy.to, []).append(parcel)
        for name, group in by_entity.items():
            if not group[0].comes_too_late:
                self._send_to(name, group, environment)
        return [parcel.failure for parcel in parcels]

    def takes_links(self, name: str) -> bool:
        """True if an entity takes a new link, by which messages could be sent there; none is sent."""
        with closing(self._sender(name)) as sender, suppress(Exception):  # whatever the error is, it takes none
            sender.create_message_batch()
            return True
        return False

    def _send_to(self, name: str, parcels: list[Parcel], environment: Time) -> None:
        """Send parcels to one entity, whose sender is not closed meanwhile."""
        entity = self._enter(name)
        try:
            entity.send(parcels, environment)
        finally:
            with self._changing:
                entity.users -= 1

    def _enter(self, name: str) -> Entity:
        """Return the entity; when there are too many, close the sender that was not used for the longest time."""
        with self._changing:
            entity = self._entities.pop(name, None) or Entity(self._sender(name), self._timeout)
            self._entities[name] = entity
            entity.users += 1
            unused = next((key for key, each in self._entities.items() if not each.users), None)
            surplus = unused and len(self._entities) > MAX_SENDERS and self._entities.pop(unused)
        if surplus:
            surplus.sender.close()
        return entity

    def _sender(self, name: str) -> RenewedSender:
        return RenewedSender(partial(self.client.get_queue_sender, name, keep_alive=NO_KEEP_ALIVE), self._clock)


def batch_key(copy: Copy) -> tuple[str, str, str]:
    """Return the values that all messages of a batch must share (Service Bus, "Partitioned queues and topics")."""
    return copy.to, copy.fields.get("session_id", ""), copy.fields.get("partition_key", "")


def send_group(sender: RenewedSender, parcels: list[Parcel]) -> None:
    """Send parcels of one batch key in as few batches as Service Bus takes, one that is too large for a batch by itself; note why each was not sent."""
    if len(parcels) == 1:
        attempt(parcels, partial(send_one, sender, parcels[0].copy))
        return
    while waiting := [each for each in parcels if each.failure is UNTRIED and not each.comes_too_late]:
        try:
            batch = sender.create_message_batch()
        except Exception as error:  # noqa: BLE001  # it opens the connection
            note(waiting, failure_of(error))
            return
        if members := fill(batch, waiting):
            attempt(members, partial(sender.send_messages, batch, timeout=CALL_TIMEOUT))
        elif waiting[0].failure is UNTRIED:
            attempt(waiting[:1], partial(send_one, sender, waiting[0].copy))


def fill(batch: ServiceBusMessageBatch, waiting: list[Parcel]) -> list[Parcel]:
    """Add parcels to an empty batch until one does not fit, and return them; note of those that cannot be encoded that they were not sent."""
    members = list[Parcel]()
    for parcel in filterfalse(attrgetter("comes_too_late"), waiting):
        try:
            if not try_to_add(batch, parcel.copy):
                break
            members.append(parcel)
        except (TypeError, ValueError) as error:
            parcel.note(failure_of(error))
    return members


def attempt(parcels: list[Parcel], send: Callable[[], None]) -> None:
    """Send, and note on the parcels why it failed, if it does."""
    try:
        send()
    except Exception as error:  # noqa: BLE001  # each who waits for a parcel gets it
        note(parcels, failure_of(error))
    else:
        note(parcels, None)


def note(parcels: list[Parcel], failure: Failure | None) -> None:
    """Note on parcels why they were not sent; None when they were."""
    for parcel in parcels:
        parcel.note(failure)


def send_one(sender: RenewedSender, copy: Copy) -> None:
    """Send one copy; while it breaks a limit of this namespace, send it without the next property that it can go without."""
    try:
        sender.send_messages(sdk_message(copy), timeout=CALL_TIMEOUT)
    except Exception as error:
        if not failure_of(error).fits_when_smaller or (less := smaller(copy)) is None:
            raise
        send_one(sender, less)


def try_to_add(batch: ServiceBusMessageBatch, copy: Copy) -> bool:
    """Add the copy to the batch; return False if the batch has no room for it."""
    from azure.servicebus.exceptions import MessageSizeExceededError

    try:
        batch.add_message(sdk_message(copy))
    except MessageSizeExceededError:
        return False
    return True


_MAKING = Lock()


def broker(client: ServiceBusClient | Broker | None, connect: Callable[[], ConnectionString | Identity]) -> Broker:
    """Return the broker of a client, or of the process's own; all threads get the same one.

    Args:
        client: the user's or a test's, if any; a test may give a broker with a clock of its own.
        connect: returns the connection for the process's own client.
    """
    if isinstance(client, Broker):
        return client
    with _MAKING:
        return broker_of(client or client_for(connect()))


@lru_cache(maxsize=16)
def broker_of(client: ServiceBusClient) -> Broker:
    """Return the broker that keeps a client's senders."""
    return Broker(client)
