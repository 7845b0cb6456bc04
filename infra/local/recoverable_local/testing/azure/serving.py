"""Check the settings of `serve` as the host does, make the queues that a function needs, and build messages to send."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from azure.servicebus import ServiceBusMessage

from recoverable_local.service_bus.broker.settings import Queue
from recoverable_local.testing.azure.app import TriggeredFunction
from recoverable_local.testing.azure.broker.queues import JournaledQueue, Queues
from recoverable_local.testing.azure.host.listener import HostSettings
from recoverable_local.testing.json_body import to_json

DELIVERIES = 100
"""Deliveries before Service Bus itself dead-letters a message, as in our template."""

SPARE = 6
"""So many more deliveries than immediate retries there must be at least."""


def check_settings(settings: HostSettings, instances: int) -> None:
    """Refuse settings that the host does not accept.

    Raises:
        ValueError: says what to write instead.
    """
    rules = {
        f"serve(instances) is {instances}; write 1 or more": instances >= 1,
        f"serve(concurrency) is {settings.concurrency}; write 1 or more": settings.concurrency >= 1,
        f"serve(batch_size) is {settings.batch_size}; write 1 or more": settings.batch_size >= 1,
        f"serve(timeout) is {settings.timeout:g} s; write more than 0": settings.timeout > 0,
        f"serve(lock_renewal) is {settings.lock_renewal:g} s; write 0 or more": settings.lock_renewal >= 0,
    }
    for problem, is_right in rules.items():
        if not is_right:
            raise ValueError(problem)


def check_sessions(function: TriggeredFunction, queue: JournaledQueue) -> None:
    """Refuse a function that the host could not start.

    Raises:
        ValueError: the queue has sessions and the trigger none, or the other way round.
    """
    if function.sessions != queue.profile.sessions:
        written = "is_sessions_enabled=True" if queue.profile.sessions else "create_queue(..., sessions=True)"
        raise ValueError(
            f"the queue {function.queue!r} and the trigger of {function.name!r} differ about sessions; write {written}"
        )


def make_queues(queues: Queues, function: TriggeredFunction) -> None:
    """Make the function's queue and its endpoint's error queue as our template has them, if they are missing."""
    ladder = function.recoverability
    error_queue = ladder.failed.error_queue if ladder else None
    if error_queue and not queues.has(error_queue):
        queues.create(Queue(error_queue))
    if not queues.has(function.queue):
        immediate = ladder.immediate.max_retries if ladder else 0
        queues.create(
            Queue(
                function.queue,
                max_delivery_count=max(DELIVERIES, immediate + SPARE),
                requires_session=function.sessions,
                forward_dead_lettered_messages_to=error_queue,
            )
        )


def to_message(body: object, attributes: Mapping[str, Any] | None, **fields: Any) -> ServiceBusMessage:
    """Build the message that a test sends; see `ServiceBusWorld.send`."""
    data = body if isinstance(body, str | bytes) else to_json(body)
    properties: Any = dict(attributes or {})
    return ServiceBusMessage(data, application_properties=properties, **fields)
