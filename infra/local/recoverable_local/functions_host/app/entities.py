"""List the queues and topics that the triggers need, for the namespace that is served here. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from recoverable_local.functions_host.app.triggers import Trigger
from recoverable_local.functions_host.settings import Settings
from recoverable_local.service_bus import Queue, Subscription, Topic


def queues_of(triggers: Sequence[Trigger], settings: Settings, *, error_queue: str) -> list[Queue]:
    """Return the queues that the triggers read, those of the settings, and the error queues.

    The dead letters of a queue go to the error queue of the settings, else to that of the endpoint that reads it, else to `error_queue`.
    """
    plain = Queue(error_queue, max_delivery_count=settings.max_delivery_count, lock_duration=settings.lock_duration)
    failing = replace(plain, forward_dead_lettered_messages_to=error_queue)
    named = {each.name: each for each in settings.queues if isinstance(each, Queue)}
    for name in (each for each in settings.queues if isinstance(each, str)):
        named.setdefault(name, replace(failing, name=name))
    for trigger in (each for each in triggers if each.subscription is None):
        to = settings.error_queue or trigger.error_queue or error_queue
        queue = replace(failing, name=trigger.queue, requires_session=trigger.sessions)
        named.setdefault(trigger.queue, replace(queue, forward_dead_lettered_messages_to=to))
    errors = dict.fromkeys([error_queue, *(each.error_queue for each in triggers if each.error_queue)])
    return list(({name: replace(plain, name=name) for name in errors} | named).values())


def topics_of(triggers: Sequence[Trigger], settings: Settings, *, error_queue: str) -> list[Topic]:
    """Return the topics whose subscriptions the triggers read."""
    template = Subscription(
        "template",
        lock_duration=settings.lock_duration,
        max_delivery_count=settings.max_delivery_count,
        forward_dead_lettered_messages_to=error_queue,
    )
    read = sorted({(each.queue, each.subscription, each.sessions) for each in triggers if each.subscription})
    return [
        Topic(topic, tuple(replace(template, name=name, requires_session=sessions) for _, name, sessions in group))
        for topic, group in groupby(read, key=lambda each: each[0])
    ]
