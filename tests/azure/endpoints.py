"""Endpoints with defaults, and what an invocation came to: complete, or abandoned because of an exception."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

import azure.functions as func

from azure.recording import RecordingClient
from builders import ERROR_QUEUE, QUEUE, Boom, Clock, recoverability
from recoverable import Message, Recoverability
from recoverable._limits import NO_DELAY
from recoverable.azure import ServiceBusEndpoint

Trigger = func.ServiceBusMessage | list[func.ServiceBusMessage]


LOCK = timedelta(minutes=1)
"""For how long the queue of a batch locks its messages."""


class Handler:
    """Notes the attempts and rounds of its messages, and raises what the test sets.

    Args:
        error: what it raises.
    """

    def __init__(self, error: BaseException | None = None) -> None:
        self.error, self.handled = error, list[Message]()

    def __call__(self, message: Message) -> None:
        """Note and raise."""
        self.handled.append(message)
        if self.error is not None:
            raise self.error


def endpoint(
    handler: Callable[[Message], Any] | None = None,
    settings: Recoverability | None = None,
    *,
    client: RecordingClient | None = None,
    batch: bool = False,
    **parts: Any,
) -> ServiceBusEndpoint[Any]:
    """Return an endpoint of the builders' queue and ladder, two immediate and two delayed retries, at the builders' time."""
    return ServiceBusEndpoint(
        handler or Handler(Boom("it broke")),
        **{
            "recoverability": settings or recoverability(error_queue=ERROR_QUEUE),
            "queue": QUEUE,
            "connection": "ServiceBus",
            "clock": Clock(),
            "name": "orders",
            "resend_for": NO_DELAY,
            "lock": LOCK,
            **parts,
        },
        batch=batch,
        client=(client or RecordingClient()).as_client(),
    )


def ended(called: ServiceBusEndpoint[Any], messages: Trigger, context: Any = None) -> BaseException | None:
    """Return how the invocation ended: None when it returned and the host completes, else the exception for which the host abandons."""
    try:
        result: Coroutine[Any, Any, None] | None = called(messages, context)
        if result is not None:
            asyncio.run(result)
    except BaseException as error:  # noqa: BLE001  # the claims are about each of them
        return error
    return None
