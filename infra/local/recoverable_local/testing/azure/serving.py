"""Check the settings of `serve` as the host does, make the queues that a function needs, and build messages to send."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from azure.servicebus import ServiceBusMessage
from azure.servicebus.amqp import AmqpAnnotatedMessage

from recoverable import Recoverability
from recoverable_local.service_bus.broker.profile import SUBSCRIPTIONS
from recoverable_local.service_bus.broker.settings import Queue, Subscription
from recoverable_local.testing.azure.app import TriggeredFunction
from recoverable_local.testing.azure.broker.queues import JournaledQueue, Queues
from recoverable_local.testing.azure.host.listener import HostSettings
from recoverable_local.testing.json_body import to_json

Sendable = ServiceBusMessage | AmqpAnnotatedMessage
"""The messages that the SDK sends, and `ServiceBusWorld.send` as it is."""

SAME_AS = {"application_properties": "attributes", "session_id": "group_id", "scheduled_enqueue_time_utc": "delay"}
"""The words of `ServiceBusWorld.send` for fields of the SDK."""

DELIVERIES = 100
"""Deliveries before Service Bus itself dead-letters a message, as in our template."""

SPARE = 6
"""So many more deliveries than immediate retries there must be at least."""

SPARE_IN_ORDER, MOST_DELIVERIES = 10, 2_000
"""So many more deliveries than attempts there must be where sessions keep the order of all retries, and the most that Service Bus takes."""


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


def check_receivable(function: TriggeredFunction, queue: JournaledQueue) -> None:
    """Refuse a function that the host could not start.

    Raises:
        ValueError: the queue forwards all its messages; or it has sessions and the trigger none, or the other way round.
    """
    if queue.outlet is not None:
        raise ValueError(
            f"{function.queue!r} forwards all its messages, so nobody can receive from it; serve the queue to which it forwards"
        )
    if function.sessions != queue.profile.sessions:
        written = "is_sessions_enabled=True" if queue.profile.sessions else "create_queue(..., sessions=True)"
        raise ValueError(
            f"the queue {function.queue!r} and the trigger of {function.name!r} differ about sessions; write {written}"
        )


def make_queues(queues: Queues, function: TriggeredFunction, error_queue: str | None) -> None:
    """Make the function's queue and its error queue as our template has them, if they are missing.

    Args:
        queues: the queues of the world.
        function: the function.
        error_queue: the error queue; None for that of the endpoint, if the function is one.
    """
    ladder = function.recoverability
    error_queue = error_queue or (ladder.failed.error_queue if ladder else None)
    if error_queue and not queues.has(error_queue):
        queues.create(Queue(error_queue))
    if not queues.has(function.queue):
        least = deliveries_needed(ladder, sessions=function.sessions) if ladder else 0
        _make(queues, function, max_delivery_count=max(DELIVERIES, least), dead_letter_to=error_queue)


def deliveries_needed(ladder: Recoverability, *, sessions: bool) -> int:
    """Return the least deliveries of the queue of an endpoint; in sessions enough for those that keep the order of all retries."""
    immediate, delayed = ladder.immediate.max_retries, ladder.delayed.max_retries
    attempts = (immediate + 1) * (delayed + 1)
    return min(attempts + SPARE_IN_ORDER, MOST_DELIVERIES) if sessions else immediate + SPARE


def _make(queues: Queues, function: TriggeredFunction, *, max_delivery_count: int, dead_letter_to: str | None) -> None:
    settings: Any = {
        "max_delivery_count": max_delivery_count,
        "requires_session": function.sessions,
        "forward_dead_lettered_messages_to": dead_letter_to,
    }
    topic, is_subscription, name = function.queue.partition(SUBSCRIPTIONS)
    if is_subscription:
        queues.subscribe(topic, Subscription(name, **settings))
    else:
        queues.create(Queue(function.queue, **settings))


def to_message(
    body: object, attributes: Mapping[str, Any] | None, group_id: str | None, due: datetime | None, **fields: Any
) -> Sendable:
    """Build the message that a test sends; see `ServiceBusWorld.send`.

    Raises:
        TypeError: JSON cannot say the body, or something is given twice.
    """
    given = {"application_properties": attributes, "session_id": group_id, "scheduled_enqueue_time_utc": due}
    ours = {name: value for name, value in given.items() if value is not None}
    if isinstance(body, Sendable):
        if ours or fields:
            raise TypeError(f"the message that is sent has its own {', '.join({**ours, **fields})}; set them on it")
        return body
    for name in ours.keys() & fields.keys():
        raise TypeError(f"send({name}) is given twice, also as {SAME_AS[name]}; write one of the two")
    data = body if isinstance(body, str | bytes) else to_json(body)
    return ServiceBusMessage(data, **{**fields, **ours})
