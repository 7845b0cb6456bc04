"""Send what goes to one entity in as few batches as Service Bus takes, and note on each copy why it was not sent."""

from __future__ import annotations

from functools import partial
from itertools import filterfalse
from operator import attrgetter
from typing import TYPE_CHECKING

from recoverable._service_bus.answers import refusal_of
from recoverable._service_bus.group_commit import Parcel
from recoverable.azure._copies import Copy, smaller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from azure.servicebus import ServiceBusMessage, ServiceBusMessageBatch, ServiceBusSender

CALL_TIMEOUT = 30
"""Seconds for one call: half of Service Bus's default lock, and long enough to connect anew."""


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
    for parcel in filterfalse(attrgetter("comes_too_late"), parcels):
        try:
            fits = try_to_add(batch, parcel.copy)
            if not fits and members:
                yield batch, members
                batch, members = sender.create_message_batch(), []
                # if that batch was refused, the parcel would go ahead of what is in it
                fits = not parcel.comes_too_late and try_to_add(batch, parcel.copy)
        except (TypeError, ValueError) as error:
            parcel.error = error
            continue
        if fits:
            members.append(parcel)
        elif not parcel.comes_too_late:
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
