"""List the queues and topics that the app needs, for the namespace that is served here. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from recoverable_local.functions_host.app.triggers import Trigger
from recoverable_local.functions_host.settings import Settings
from recoverable_local.service_bus import Queue, Subscription, Topic

LONGEST_NAME = 50
"""Characters of a subscription's name, which has no slashes (Service Bus)."""


def queues_of(triggers: Sequence[Trigger], settings: Settings, *, error_queue: str) -> list[Queue]:
    """Return the error queues, the queues of the settings, those that the triggers read, and those of output bindings.

    The dead letters of a queue go to the error queue of the settings, else to that of the endpoint that reads it, else to `error_queue`.
    Names that differ by case alone are one queue. Of two that are one, the earlier of these counts: a queue of the settings with settings
    of its own, an error queue, the others.
    """
    plain = Queue(error_queue, max_delivery_count=settings.max_delivery_count, lock_duration=settings.lock_duration)
    errors = [error_queue, *(each.error_queue for each in triggers if each.error_queue)]
    found = {name.lower(): replace(plain, name=name) for name in errors}
    found |= {each.name.lower(): each for each in settings.queues if isinstance(each, Queue)}
    for queue in _needed(triggers, settings, replace(plain, forward_dead_lettered_messages_to=error_queue)):
        found.setdefault(queue.name.lower(), queue)
    return list(found.values())


def _needed(triggers: Sequence[Trigger], settings: Settings, failing: Queue) -> Iterator[Queue]:
    yield from (replace(failing, name=each) for each in settings.queues if isinstance(each, str))
    for trigger in (each for each in triggers if each.subscription is None):
        to = settings.error_queue or trigger.error_queue or failing.forward_dead_lettered_messages_to
        queue = replace(failing, name=trigger.queue, requires_session=trigger.sessions)
        yield replace(queue, forward_dead_lettered_messages_to=to)
    outputs = [each for trigger in triggers for each in trigger.outputs]
    yield from (replace(failing, name=each.entity) for each in outputs if not each.is_topic)
    yield from (replace(failing, name=to) for _, to in _forwarded(settings))


def topics_of(triggers: Sequence[Trigger], settings: Settings, *, error_queue: str) -> list[Topic]:
    """Return the topics of the settings, those whose subscriptions the triggers read, and those of output bindings, by their names."""
    template = Subscription(
        "template",
        lock_duration=settings.lock_duration,
        max_delivery_count=settings.max_delivery_count,
        forward_dead_lettered_messages_to=error_queue,
    )
    topics = {each.name: each for each in settings.topics if isinstance(each, Topic)}
    for name, subscription in sorted(_subscriptions(triggers, settings, template), key=_by_name):
        topic = topics.setdefault(name, Topic(name))
        if subscription and subscription.name not in {each.name for each in topic.subscriptions}:
            topics[name] = replace(topic, subscriptions=(*topic.subscriptions, subscription))
    return [topics[name] for name in sorted(topics)]


def _subscriptions(
    triggers: Sequence[Trigger], settings: Settings, template: Subscription
) -> Iterator[tuple[str, Subscription | None]]:
    """Yield the topics with their subscriptions; None for a topic that is only sent to."""
    for topic, queue in _forwarded(settings):
        yield topic, replace(template, name=queue.replace("/", "-")[:LONGEST_NAME], forward_to=queue)
    for trigger in triggers:
        if trigger.subscription:
            yield trigger.queue, replace(template, name=trigger.subscription, requires_session=trigger.sessions)
        yield from ((each.entity, None) for each in trigger.outputs if each.is_topic)


def _forwarded(settings: Settings) -> list[tuple[str, str]]:
    """Return the topics of the settings that a subscription forwards to a queue, with that queue."""
    return [each for each in settings.topics if not isinstance(each, Topic)]


def _by_name(found: tuple[str, Subscription | None]) -> tuple[str, str]:
    topic, subscription = found
    return topic, subscription.name if subscription else ""
