"""Find the entities of a namespace, and forward messages from one to another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from recoverable_local.service_bus.amqp import encoding as e
from recoverable_local.service_bus.broker.agenda import Agenda, Clock
from recoverable_local.service_bus.broker.entity import Entity
from recoverable_local.service_bus.broker.filters import changed, matches, rule_of
from recoverable_local.service_bus.broker.holding.content import Content
from recoverable_local.service_bus.broker.holding.messages import Message
from recoverable_local.service_bus.broker.profile import (
    DEAD_LETTERS,
    Profile,
    of_dead_letters,
    of_queue,
    of_subscription,
    of_topic,
    of_transfer_dead_letters,
)
from recoverable_local.service_bus.broker.refusals import RefusedError, disabled, not_found
from recoverable_local.service_bus.broker.settings import Queue, Subscription, Topic
from recoverable_local.service_bus.broker.sql import EvaluationError

_MAX_HOPS = 4  # Service Bus

DEFAULT_RULE = "$Default"
"""The name of the rule with which Service Bus makes a subscription."""


class Namespace:
    """The queues and topics of a namespace, with their agenda.

    Args:
        queues: The queues.
        topics: The topics with their subscriptions.
        clock: Returns the time, in seconds since 1970.

    Raises:
        ValueError: Two entities have the same name, or a forwarding target does not exist.
    """

    def __init__(self, queues: Iterable[Queue], topics: Iterable[Topic], *, clock: Clock) -> None:
        self.agenda, self.clock = Agenda(), clock
        self._entities: dict[str, Entity] = {}
        self._forwards: dict[str, str] = {}
        self._disabled: set[str] = set()
        self._subscriptions: dict[str, list[Entity]] = {}
        for queue in queues:
            self._receivable(of_queue(queue), queue.forward_to, queue.forward_dead_lettered_messages_to)
        for topic in topics:
            self._topic(topic)
        self._check_targets()

    def find(self, path: str) -> Entity:
        """Return the entity at a path, in upper or lower case.

        Raises:
            RefusedError: A path without entity.
        """
        entity = self._entities.get(path.strip("/").lower())
        if entity is None:
            raise not_found(path)
        return entity

    def open(self, path: str) -> Entity:
        """Return the entity at a path for a client.

        Raises:
            RefusedError: A path without entity, or a disabled one.
        """
        entity = self.find(path)
        if entity.profile.path in self._disabled:
            raise disabled(entity.profile.path)
        return entity

    def disable(self, path: str) -> RefusedError:
        """Let no client open an entity any more; return the reason for those that have."""
        self._disabled.add(self.find(path).profile.path)
        return disabled(path)

    def enable(self, path: str) -> None:
        """Let clients open an entity again."""
        self._disabled.discard(self.find(path).profile.path)

    def tick(self) -> None:
        """Run all actions that are due."""
        self.agenda.run(self.clock())

    def entities(self) -> list[Entity]:
        """Return all entities, including dead-letter queues."""
        return list(self._entities.values())

    def _receivable(self, profile: Profile, forward_to: str | None, dead_to: str | None) -> Entity:
        self._check_free(profile.path)
        dead = self._entity(of_dead_letters(profile), forward_to=dead_to)
        stranded = self._entity(of_transfer_dead_letters(profile), forward_to=None)
        return self._entity(profile, forward_to=forward_to, dead=dead, stranded=stranded)

    def _entity(
        self, profile: Profile, *, forward_to: str | None, dead: Entity | None = None, stranded: Entity | None = None
    ) -> Entity:
        entity = Entity(
            profile,
            clock=self.clock,
            agenda=self.agenda,
            dead_letter_to=dead.keep if dead else None,
            transfer_to=stranded.keep if stranded else None,
            outlet=partial(self._forward, profile.path, forward_to) if forward_to else None,
        )
        self._entities[profile.path.lower()] = entity
        if forward_to:
            self._forwards[profile.path] = forward_to
        return entity

    def _topic(self, topic: Topic) -> None:
        self._check_free(topic.name)
        published = self._subscriptions[topic.name.lower()] = []
        self._entity(of_topic(topic), forward_to=None).outlet = partial(_publish, published)
        for each in topic.subscriptions:
            self._subscribe(topic.name, each)

    def _subscribe(self, topic: str, subscription: Subscription) -> None:
        forward_to, dead_to = subscription.forward_to, subscription.forward_dead_lettered_messages_to
        entity = self._receivable(of_subscription(subscription, topic=topic), forward_to, dead_to)
        entity.rules = {
            f"rule-{place}" if place else DEFAULT_RULE: rule_of(each) for place, each in enumerate(subscription.filters)
        }
        entity.dead_letters_unfiltered = subscription.dead_lettering_on_filter_evaluation_exceptions
        self._subscriptions[topic.lower()].append(entity)

    def _forward(self, source: str, target: str, message: Message) -> None:
        if message.hops >= _MAX_HOPS:
            text = f"The message was forwarded {message.hops} times; {_MAX_HOPS} are allowed."
            raise RefusedError("MaxTransferHopCountExceeded", text)
        content = message.content.with_annotations({}, without=["x-opt-scheduled-enqueue-time"])
        if source.endswith(DEAD_LETTERS):
            owner = e.string(source.removesuffix(DEAD_LETTERS))
            content = content.with_annotations({"x-opt-deadletter-source": owner})
        first = message.first_number or message.sequence_number
        self.find(target).put(content, hops=message.hops + 1, first_number=first)

    def _check_free(self, path: str) -> None:
        if path.lower() in self._entities:
            raise ValueError(f"two entities are called {path!r}; let their names differ by more than case")

    def _check_targets(self) -> None:
        for source, target in self._forwards.items():
            if target.lower() not in self._entities:
                raise ValueError(
                    f"{source!r} forwards to {target!r}, which is neither a queue nor a topic; add Queue({target!r})"
                )


def _publish(receivers: Iterable[Entity], message: Message) -> None:
    for entity in receivers:
        try:
            copies = _copies(entity, message.content)
        except EvaluationError as error:
            entity.refuse_published(message, str(error))
            continue
        for content in copies:
            entity.put_published(replace(message, content=content))


def _copies(entity: Entity, content: Content) -> list[Content]:
    """Return what a subscription gets of a message: one for all rules without an action that match, and one for each with an action."""
    found = [rule for rule in (entity.rules or {}).values() if matches(rule.filter, content)]
    plain = [content] if any(not rule.statements for rule in found) else []
    return plain + [changed(content, rule.statements) for rule in found if rule.statements]
