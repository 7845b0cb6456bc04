"""Renew the lock of a message or a session, up to the longest time that `host.json` allows."""

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
"""A lock is renewed this long before its end, or at half of its time if that is less.

Source: azure-sdk-for-net, `ReceiverManager.CalculateRenewDelay`.
"""


async def keep_locked(
    locked: ServiceBusReceivedMessage | ServiceBusSession, link: Link, longest: timedelta, journal: Journal
) -> None:
    """Renew a lock until it is lost, `longest` is over, or the caller cancels this.

    Args:
        locked: The message or the session.
        link: Its receiver.
        longest: The longest time to renew it, from now.
        journal: Records the loss of the lock.
    """
    end = time.monotonic() + longest.total_seconds()
    while (pause := _until_renewal(locked)) is not None and time.monotonic() + pause < end:
        await asyncio.sleep(pause)
        try:
            await link.run(_renewing(locked))
        except Exception as error:  # noqa: BLE001  # whatever the SDK raises, the function continues
            then = "the function continues; its messages will be delivered again"
            journal(Trouble("renewing a lock", f"{type(error).__name__}: {error}", then))
            return


def _renewing(
    locked: ServiceBusReceivedMessage | ServiceBusSession,
) -> Callable[[ServiceBusReceiver], Awaitable[datetime]]:
    if isinstance(locked, ServiceBusSession):
        return lambda _: locked.renew_lock()
    return lambda receiver: receiver.renew_message_lock(locked)


def _until_renewal(locked: ServiceBusReceivedMessage | ServiceBusSession) -> float | None:
    """Return the seconds until the next renewal; None if the end of the lock is unknown."""
    if locked.locked_until_utc is None:
        return None
    remaining = locked.locked_until_utc - datetime.now(UTC)
    return max(0.0, (remaining - min(remaining / 2, MARGIN)).total_seconds())
