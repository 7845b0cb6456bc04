"""Open a Service Bus error queue, with or without sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recoverable_operate.errors._azure.client import ServiceBusErrorQueue
from recoverable_operate.errors._azure.entity import Entity
from recoverable_operate.errors._azure.sessions_client import SessionErrorQueue
from recoverable_operate.errors._queue import Clock, ErrorQueue, Stop

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusClient


def open_entity(
    reading: ServiceBusClient,
    sending: ServiceBusClient,
    entity: Entity,
    *,
    clock: Clock,
    stop: Stop,
    max_delivery_count: int,
    poll: float,
    sessions: bool | None = None,
) -> ErrorQueue:
    """Return the error queue of an entity.

    Args:
        reading: a client that reads.
        sending: a client that tries each send once.
        entity: the queue.
        clock: tells the time.
        stop: ends a look.
        max_delivery_count: the queue's MaxDeliveryCount.
        poll: seconds to wait for messages, or for a session.
        sessions: True if the queue requires sessions; None to ask it.
    """

    def part_of(session: str | None) -> ServiceBusErrorQueue:
        return ServiceBusErrorQueue(
            reading, sending, entity, clock=clock, stop=stop, max_delivery_count=max_delivery_count, poll=poll, session=session
        )  # fmt: skip

    whole = part_of(None)
    if not (whole.receiver.refused_for_sessions() if sessions is None else sessions):
        return whole
    return SessionErrorQueue(sending, entity, whole, stop=stop, part_of=part_of, poll=poll)
