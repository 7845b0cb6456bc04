"""Keeps the lock of a message or a session until the longest time for it is over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from azure.servicebus import ServiceBusReceivedMessage
from azure.servicebus.aio import ServiceBusReceiver, ServiceBusSession

from recoverable_local.functions_host.extension.link import Link
from recoverable_local.functions_host.journal import Journal, Trouble

MARGIN = timedelta(seconds=10)
"""How long before its end a lock is renewed, or half its time if that is less (azure-sdk-for-net, `ReceiverManager.CalculateRenewDelay`)."""


async def keep_locked(
    locked: ServiceBusReceivedMessage | ServiceBusSession, link: Link, longest: timedelta, journal: Journal
) -> None:
    """Renew a lock again and again; cancelled when it is not needed any more.

    Args:
        locked: The message or the session.
        link: Its receiver.
        longest: How long from now.
        journal: Told when the lock is lost.
    """
    end = time.monotonic() + longest.total_seconds()
    while (pause := _until_renewal(locked)) is not None and time.monotonic() + pause < end:
        await asyncio.sleep(pause)
        try:
            await link.run(_renewing(locked))
        except Exception as error:  # noqa: BLE001  # whatever the SDK raises, the function goes on
            then = "the function goes on; what it is given comes back"
            journal(Trouble("renewing a lock", f"{type(error).__name__}: {error}", then))
            return


def _renewing(
    locked: ServiceBusReceivedMessage | ServiceBusSession,
) -> Callable[[ServiceBusReceiver], Awaitable[datetime]]:
    if isinstance(locked, ServiceBusSession):
        return lambda _: locked.renew_lock()
    return lambda receiver: receiver.renew_message_lock(locked)


def _until_renewal(locked: ServiceBusReceivedMessage | ServiceBusSession) -> float | None:
    """Seconds; None when it is not known until when it is locked."""
    if locked.locked_until_utc is None:
        return None
    left = locked.locked_until_utc - datetime.now(UTC)
    return max(0.0, (left - min(left / 2, MARGIN)).total_seconds())
