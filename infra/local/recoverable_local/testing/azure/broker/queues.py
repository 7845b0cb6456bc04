"""Run the broker of the local emulator in virtual time, and record its events in the journal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recoverable_local.service_bus.broker.agenda import Agenda
from recoverable_local.service_bus.broker.entity import Entity
from recoverable_local.service_bus.broker.holding.content import Content
from recoverable_local.service_bus.broker.holding.messages import Message
from recoverable_local.service_bus.broker.namespace import Namespace
from recoverable_local.service_bus.broker.profile import SUBSCRIPTIONS, Profile, of_queue, subscription_path
from recoverable_local.service_bus.broker.settings import Queue, Subscription, Topic
from recoverable_local.testing.azure.broker.register import Register, broker_id
from recoverable_local.testing.engine.scheduler import Scheduler
from recoverable_local.testing.timeline import What

Note = Callable[[What, str, str, str], None]

FROM_DEAD_LETTERS = "x-opt-deadletter-source"


class VirtualAgenda(Agenda):
    """The broker's later actions on the world's agenda; time does not advance for them alone.

    Args:
        scheduler: the world's time.
        start: when that began, in seconds since 1970.
    """

    def __init__(self, scheduler: Scheduler, start: float) -> None:
        super().__init__()
        self._scheduler, self.start = scheduler, start

    def at(self, when: float, act: Callable[[], None]) -> None:
        """Schedule an action of the broker."""
        self._scheduler.at_passively(when - self.start, act)

    def wake(self, when: float) -> None:
        """Let time advance to this moment."""
        self._scheduler.at(when - self.start, lambda: None)


class JournaledQueue(Entity):
    """A queue that records in the journal what comes into it.

    Args:
        agenda: where what happens later is noted.
        register: gives its messages their ids.
        note: writes down what happens to them.
    """

    agenda: VirtualAgenda
    register: Register
    note: Note

    @staticmethod
    def with_journal(entity: Entity, agenda: VirtualAgenda, register: Register, note: Note) -> JournaledQueue:
        """Turn a queue into one with a journal; in place, because a namespace makes its queues itself and connects them to one another."""
        entity.__class__ = JournaledQueue
        assert isinstance(entity, JournaledQueue)
        entity.agenda, entity.register, entity.note = agenda, register, note
        return entity

    def put(self, content: Content, *, hops: int = 0, first_number: int | None = None) -> int:
        """Add a message; return its sequence number."""
        self.check(content)
        content = self.register.with_id(content, anew=self.is_subscription)
        self.note(*self._arrival(content, hops))
        self.agenda.wake((content.scheduled or 0) / 1000)
        number = super().put(content, hops=hops, first_number=first_number)
        if self.outlet is None and self.store.find(number) is None:
            self.note("dropped as a duplicate", self.profile.path, broker_id(content), "")
        return number

    @property
    def is_subscription(self) -> bool:
        """True if it is a topic's subscription, or its dead letters: each has a copy of its own of what is published."""
        return SUBSCRIPTIONS.lower() in self.profile.path.lower()

    def keep(self, message: Message) -> None:
        """Add a dead letter."""
        if self.outlet is None:
            reason = message.content.application_properties().get("DeadLetterReason", "")
            self.note("dead-lettered", self.profile.path, broker_id(message.content), str(reason))
        super().keep(message)

    def _arrival(self, content: Content, hops: int) -> tuple[What, str, str, str]:
        where = self.profile.path, broker_id(content)
        if FROM_DEAD_LETTERS in content.annotations:
            return "dead-lettered", *where, str(content.application_properties().get("DeadLetterReason", ""))
        if hops or self.is_subscription:
            return "forwarded", *where, ""
        wait = (content.scheduled or 0) / 1000 - self._clock()
        return "sent", *where, f"visible after {wait:g} s" if wait > 0 else ""


class Queues(Namespace):
    """The queues of a world; more can be added while time passes.

    Args:
        scheduler: the world's time.
        start: when that began, in seconds since 1970.
        register: gives messages their ids.
        note: writes down what happens to them.
    """

    def __init__(self, scheduler: Scheduler, start: float, register: Register, note: Note) -> None:
        super().__init__((), (), clock=lambda: start + scheduler.now)
        self.agenda: VirtualAgenda = VirtualAgenda(scheduler, start)
        self._register, self._note = register, note

    def create(self, queue: Queue) -> JournaledQueue:
        """Make a queue.

        Raises:
            ValueError: it is there already.
        """
        self._receivable(of_queue(queue), queue.forward_to, queue.forward_dead_lettered_messages_to)
        return self.find(queue.name)

    def subscribe(self, topic: str, subscription: Subscription) -> JournaledQueue:
        """Make a subscription of a topic, and the topic if it is missing.

        Raises:
            ValueError: it is there already, or the topic's name is a queue's.
        """
        if topic.lower() not in self._subscriptions:
            self.create_topic(topic)
        self._subscribe(topic, subscription)
        return self.find(subscription_path(topic, subscription.name))

    def create_topic(self, name: str) -> None:
        """Make a topic.

        Raises:
            ValueError: the name is a queue's.
        """
        self._topic(Topic(name))

    def is_topic(self, name: str) -> bool:
        """True if there is a topic of that name."""
        return name.lower() in self._subscriptions

    def find(self, path: str) -> JournaledQueue:
        """Return the queue at a path; case does not matter.

        Raises:
            RefusedError: a path without queue.
        """
        entity = super().find(path)
        assert isinstance(entity, JournaledQueue)
        return entity

    def has(self, name: str) -> bool:
        """True if there is a queue of that name."""
        return name.lower() in self._entities

    def names(self) -> list[str]:
        """Return the names of all queues and topics and the paths of all subscriptions, without their subqueues."""
        paths = [entity.profile.path for entity in self.entities()]
        return sorted(path for path in paths if "$" not in path)

    def _entity(self, profile: Profile, **wiring: Any) -> JournaledQueue:
        entity = super()._entity(profile, **wiring)
        return JournaledQueue.with_journal(entity, self.agenda, self._register, self._note)
