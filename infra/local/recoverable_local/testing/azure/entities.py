"""Offer the queues and topics of a `ServiceBusWorld`: make them, and look into them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from recoverable_local.service_bus.broker.filters import Filter, Rule, TrueFilter
from recoverable_local.service_bus.broker.profile import DEAD_LETTERS
from recoverable_local.service_bus.broker.settings import Queue, Subscription
from recoverable_local.testing.azure.broker.queues import JournaledQueue, Queues
from recoverable_local.testing.azure.broker.register import Register
from recoverable_local.testing.azure.seen_message import published, to_seen_message
from recoverable_local.testing.engine.virtual import Duration, VirtualWorld, seconds_of
from recoverable_local.testing.seen_message import SeenMessage


class EntityWorld(VirtualWorld):
    """A world with queues and topics; `ServiceBusWorld` is one, with functions."""

    _queues: Queues
    _register: Register
    _create_missing: bool

    def create_queue(
        self,
        name: str,
        *,
        lock: Duration = 60,
        max_delivery_count: int = 100,
        dead_letter_queue: str | None = None,
        time_to_live: Duration | None = None,
        dead_letter_expired: bool = False,
        sessions: bool = False,
        duplicate_detection: Duration | None = None,
        forward_to: str | None = None,
        max_size: int = 262_144,
    ) -> None:
        """Make a queue.

        Args:
            name: its name.
            lock: for how long a received message is hidden, up to 5 minutes.
            max_delivery_count: after how many deliveries a message is dead-lettered.
            dead_letter_queue: where its dead letters are forwarded; made if it is missing.
            time_to_live: when a message expires that does not say so itself.
            dead_letter_expired: whether what expires is dead-lettered, instead of dropped.
            sessions: whether each message belongs to a session.
            duplicate_detection: for how long a message id is taken once only.
            forward_to: the queue that gets all messages instead.
            max_size: bytes of a message; 262,144 in the tiers Basic and Standard.

        Raises:
            ValueError: there is such a queue already, or Service Bus would refuse one of these.
        """
        self._make_targets(dead_letter_queue, forward_to)
        self._queues.create(
            Queue(
                name,
                lock_duration=timedelta(seconds=seconds_of(lock)),
                max_delivery_count=max_delivery_count,
                default_message_time_to_live=duration(time_to_live),
                dead_lettering_on_message_expiration=dead_letter_expired,
                requires_session=sessions,
                duplicate_detection_window=duration(duplicate_detection),
                forward_to=forward_to,
                forward_dead_lettered_messages_to=dead_letter_queue,
                max_message_size=max_size,
            )
        )

    def create_topic(self, name: str) -> None:
        """Make a topic, unless it is there.

        Args:
            name: its name.

        Raises:
            ValueError: it is a queue's name, or Service Bus takes no topic of that name.
        """
        if not self._queues.is_topic(name):
            self._queues.create_topic(name)

    def create_subscription(
        self,
        topic: str,
        name: str,
        *,
        forward_to: str | None = None,
        lock: Duration = 60,
        max_delivery_count: int = 100,
        dead_letter_queue: str | None = None,
        sessions: bool = False,
        filters: Sequence[Filter | Rule] = (TrueFilter(),),
    ) -> None:
        """Make a subscription of a topic, and the topic if it is missing. It gets a copy of what its filters match: of all, without any.

        An endpoint serves queues: let the subscription forward to the endpoint's queue, so that a retry reaches nobody else.

        Args:
            topic: the topic's name.
            name: the subscription's name.
            forward_to: the queue that gets all messages; made if it is missing.
            lock: for how long a received message is hidden, up to 5 minutes.
            max_delivery_count: after how many deliveries a message is dead-lettered.
            dead_letter_queue: where its dead letters are forwarded; made if it is missing.
            sessions: whether each message belongs to a session.
            filters: such as `SqlFilter("color = 'red'")`, and `Rule`, which is a filter with an action.

        Raises:
            ValueError: there is such a subscription already, or the topic's name is a queue's, or Service Bus would refuse one of these.
        """
        self._make_targets(dead_letter_queue, forward_to)
        subscription = Subscription(
            name,
            tuple(filters),
            lock_duration=timedelta(seconds=seconds_of(lock)),
            max_delivery_count=max_delivery_count,
            requires_session=sessions,
            forward_to=forward_to,
            forward_dead_lettered_messages_to=dead_letter_queue,
        )
        self._queues.subscribe(topic, subscription)

    def topic(self, name: str) -> list[SeenMessage]:
        """Return what was published to a topic, in order, whether it has subscriptions or not.

        Raises:
            LookupError: no topic of that name was ever made; a send to a name that is neither a queue nor a topic makes a queue.
        """
        if not self._queues.is_topic(name):
            raise LookupError(
                f"there is no topic {name!r}; make it with create_topic({name!r}) before something is sent to it"
            )
        path = self._queues.find(name).profile.path
        return [
            published(self._register.contents[entry.broker_id], path, self._start + timedelta(seconds=entry.at))
            for entry in self._journal.entries_of("sent", path)
        ]

    def queue(self, name: str) -> list[SeenMessage]:
        """Return the messages that are in a queue now, locked and scheduled ones too, in the order in which they came.

        Raises:
            LookupError: no queue of that name was ever made.
        """
        return [to_seen_message(message, name) for message in self._existing(name).store.from_number(0)]

    def dead_letters(self, name: str) -> list[SeenMessage]:
        """Return the dead letters that stay in a queue because it forwards them nowhere.

        Raises:
            LookupError: no queue of that name was ever made.
        """
        self._existing(name)
        dead = self._queues.find(name + DEAD_LETTERS)
        return [to_seen_message(message, dead.profile.path) for message in dead.store.from_number(0)]

    def _make_targets(self, *names: str | None) -> None:
        for name in names:
            if name and not self._queues.has(name):
                self._queues.create(Queue(name))

    def _existing(self, name: str) -> JournaledQueue:
        if not self._queues.has(name):
            known = ", ".join(self._queues.names()) or "no queue at all"
            raise LookupError(f"there is no queue {name!r}, but {known}; make it with create_queue({name!r})")
        return self._queues.find(name)

    def _find(self, name: str) -> JournaledQueue:
        if self._create_missing and not self._queues.has(name):
            self._queues.create(Queue(name))
        return self._queues.find(name)

    def _identity(self, broker_id: str) -> str:
        return self._register.message_id(broker_id)


def duration(time: Duration | None) -> timedelta | None:
    """Convert a duration to the form of the broker's settings."""
    return None if time is None else timedelta(seconds=seconds_of(time))
