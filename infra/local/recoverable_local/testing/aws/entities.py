"""Offer the queues and topics of an `SqsWorld`: make them, and look into them."""

from __future__ import annotations

from datetime import timedelta

from recoverable_local.testing.aws.broker.broker import Broker
from recoverable_local.testing.aws.broker.queue import Queue
from recoverable_local.testing.aws.broker.queues import DAY, Redrive, Settings
from recoverable_local.testing.aws.broker.topics import Topics
from recoverable_local.testing.aws.seen_message import to_seen_message
from recoverable_local.testing.engine.virtual import Duration, VirtualWorld, seconds_of
from recoverable_local.testing.seen_message import SeenMessage


class EntityWorld(VirtualWorld):
    """A world with queues and topics; `SqsWorld` is one, with functions."""

    _broker: Broker
    _topics: Topics

    def create_queue(
        self,
        name: str,
        *,
        delay: Duration = 0,
        visibility_timeout: Duration = 30,
        retention: Duration = timedelta(days=4),
        max_size: int = 1_048_576,
        dead_letter_queue: str | None = None,
        max_receive_count: int = 50,
        content_deduplication: bool = False,
    ) -> None:
        """Make a queue, or change the settings of an existing one; "….fifo" makes a FIFO queue.

        Args:
            name: its name.
            delay: for how long a new message is hidden, up to 15 minutes.
            visibility_timeout: for how long a received one is, up to 12 hours.
            retention: when a message is deleted that nobody has, 1 minute to 14 days.
            max_size: bytes of a message, 1,024 to 1,048,576.
            dead_letter_queue: where a message goes that was received too often; made if it is missing.
            max_receive_count: how often is not too often, 1 to 1,000.
            content_deduplication: whether a FIFO queue takes messages of the same body for duplicates.
        """
        if dead_letter_queue and dead_letter_queue not in self._broker.queues:
            self._broker.create(Settings(name=dead_letter_queue, retention=14 * DAY))
        self._broker.create(
            Settings(
                name=name,
                delay=seconds_of(delay),
                visibility_timeout=seconds_of(visibility_timeout),
                retention=seconds_of(retention),
                max_size=max_size,
                redrive=Redrive(to=dead_letter_queue, after=max_receive_count) if dead_letter_queue else None,
                content_deduplication=content_deduplication,
            )
        )

    def create_topic(self, name: str, *, max_size: int = 262_144) -> None:
        """Make a topic; "….fifo" makes a FIFO topic.

        Args:
            name: its name.
            max_size: bytes of a message and of a batch, 1,024 to 1,048,576.

        Raises:
            ValueError: SNS takes no topic of that name.
        """
        self._topics.create(name, max_size)

    def create_subscription(self, topic: str, name: str, *, forward_to: str) -> None:
        """Let a queue get what is published to a topic, by raw message delivery; make both if they are missing.

        Args:
            topic: the topic's name.
            name: a name for the subscription, as Service Bus has; SNS gives it an ARN.
            forward_to: the queue that gets all messages.

        Raises:
            ValueError: a subscription that exists already, or a queue that does not exist.
        """
        self._topics.subscribe(topic, name, forward_to)

    def topic(self, name: str) -> list[SeenMessage]:
        """Return what was published to a topic, in order, whether it has subscriptions or not.

        Raises:
            LookupError: no topic of that name was ever made.
        """
        topic = self._topics.existing(name)
        return [to_seen_message(message, topic.settings, self._start) for message in topic.messages.values()]

    def queue(self, name: str) -> list[SeenMessage]:
        """Return the messages that are in a queue now, hidden ones too, in the order in which they were sent.

        Raises:
            LookupError: no queue of that name was ever made.
        """
        queue = self._existing(name)
        return [to_seen_message(message, queue.settings, self._start) for message in self._broker.kept(queue)]

    def _existing(self, name: str) -> Queue:
        if name not in self._broker.queues:
            known = ", ".join(sorted(self._broker.queues)) or "no queue at all"
            raise LookupError(f"there is no queue {name!r}, but {known}; make it with create_queue({name!r})")
        return self._broker.queues[name]

    def _identity(self, broker_id: str) -> str:
        if broker_id not in self._broker.all:
            return broker_id
        queue, message = self._broker.all[broker_id]
        return to_seen_message(message, queue.settings, self._start).id
