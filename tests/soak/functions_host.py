"""A process that does with a queue's messages what the Functions host does: lock, call the function, complete or abandon; several at a time."""

from __future__ import annotations

import logging
import os
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path

from azure.servicebus import ServiceBusClient, ServiceBusReceivedMessage, ServiceBusReceiver
from azure.servicebus.exceptions import ServiceBusError

from azure.endpoints import ended
from azure.namespace import told
from azure.triggers import trigger_message
from recoverable.azure import ServiceBusEndpoint
from soak.deeds import recoverability
from soak.ledger import SETTING, handle

CONNECTION = "ServiceBus"

CONCURRENCY = 4
"""Invocations at a time; the host makes 16 for each core."""

WAIT = 1  # seconds


def serve(connection_string: str, queue: str, error_queue: str, ledger: Path) -> None:
    """Serve a queue until somebody ends the process."""
    logging.disable(logging.CRITICAL)
    os.environ |= {CONNECTION: connection_string, SETTING: str(ledger)}
    endpoint = ServiceBusEndpoint(handle, recoverability(error_queue), queue=queue, connection=CONNECTION)
    with (
        ThreadPoolExecutor(CONCURRENCY) as invocations,
        ServiceBusClient.from_connection_string(connection_string, retry_backoff_factor=0.1) as client,
        client.get_queue_receiver(queue) as receiver,
    ):
        while True:
            with suppress(ServiceBusError):
                messages = receiver.receive_messages(CONCURRENCY, max_wait_time=WAIT)
                running = {invocations.submit(invoked, endpoint, message): message for message in messages}
                for invocation in as_completed(running):
                    settle(receiver, running[invocation], invocation.result())


def invoked(endpoint: ServiceBusEndpoint[None], message: ServiceBusReceivedMessage) -> BaseException | None:
    """Call the function; gives what it raised."""
    return ended(endpoint, trigger_message(**told(message)))


def settle(
    receiver: ServiceBusReceiver, message: ServiceBusReceivedMessage, error: BaseException | None
) -> None:
    """Complete what returned, and abandon what raised; where that fails, the message comes back when its lock is over."""
    with suppress(ServiceBusError, ValueError):  # the latter when the link has gone since
        (receiver.complete_message if error is None else receiver.abandon_message)(message)
