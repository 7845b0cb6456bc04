"""The triggers → the queues and topics of the namespace that is served here. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from recoverable.local.azure.settings import Settings
from recoverable.local.azure.triggers import Trigger
from recoverable.local.service_bus import Queue, Subscription, Topic


def queues_of(triggers: Sequence[Trigger], settings: Settings) -> list[Queue]:
    """Those that are read, those that are asked for, and the error queue."""
    plain = Queue(
        settings.error_queue,
        max_delivery_count=settings.max_delivery_count,
        lock_duration=settings.lock_duration,
    )
    failing = replace(plain, forward_dead_lettered_messages_to=settings.error_queue)
    named = {each.name: each for each in settings.queues if isinstance(each, Queue)}
    for name in (each for each in settings.queues if isinstance(each, str)):
        named.setdefault(name, replace(failing, name=name))
    for trigger in (each for each in triggers if each.subscription is None):
        queue = replace(failing, name=trigger.queue, requires_session=trigger.sessions)
        named.setdefault(trigger.queue, queue)
    return list(({settings.error_queue: plain} | named).values())


def topics_of(triggers: Sequence[Trigger], settings: Settings) -> list[Topic]:
    """Those whose subscriptions are read."""
    read = sorted({(each.queue, each.subscription, each.sessions) for each in triggers if each.subscription})
    return [
        Topic(topic, tuple(_subscription(str(name), settings, sessions=s) for _, name, s in group))
        for topic, group in groupby(read, key=lambda each: each[0])
    ]


def _subscription(name: str, settings: Settings, *, sessions: bool) -> Subscription:
    return Subscription(
        name,
        requires_session=sessions,
        lock_duration=settings.lock_duration,
        max_delivery_count=settings.max_delivery_count,
        forward_dead_lettered_messages_to=settings.error_queue,
    )
