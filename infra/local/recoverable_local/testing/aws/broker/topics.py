"""Keep topics as SNS does: what is published to one goes to the queues that subscribe to it."""

from __future__ import annotations

from math import inf
from re import fullmatch

from recoverable_local.testing.aws.broker.broker import Broker
from recoverable_local.testing.aws.broker.order import StandardOrder
from recoverable_local.testing.aws.broker.queue import Queue
from recoverable_local.testing.aws.broker.queues import KIBIBYTE, Settings
from recoverable_local.testing.aws.broker.refusals import Refusal
from recoverable_local.testing.aws.broker.stored import Attributes, Stored

TOPIC_NAME = r"[A-Za-z0-9_-]{1,256}|(?=.{6,256}\Z)[A-Za-z0-9_-]+\.fifo"
"""Pattern of a topic's name (Amazon SNS, CreateTopic)."""

MAX_SIZE = 256 * KIBIBYTE
"""Bytes of a message and of a batch where a topic sets no other (Amazon SNS, MaximumMessageSize)."""


class Topics:
    """The topics of a world. Each is stored as a queue from which nobody receives, so that tests see what was published.

    Args:
        broker: the queues that subscribe.
        create_missing: True if a topic is made when it is first named.
    """

    def __init__(self, broker: Broker, *, create_missing: bool) -> None:
        self._broker, self._create_missing = broker, create_missing
        self._topics: dict[str, Queue] = {}
        self._subscriptions: dict[str, dict[str, str]] = {}

    def create(self, name: str, max_size: int = MAX_SIZE) -> Queue:
        """Make a topic of messages of so many bytes, unless it is there.

        Raises:
            ValueError: SNS takes no topic of that name.
        """
        if not fullmatch(TOPIC_NAME, name):
            raise ValueError(
                f"{name!r} is no topic's name; write 1 to 256 letters, digits, - and _, with .fifo for FIFO"
            )
        settings = Settings(name=name, max_size=max_size, retention=inf)
        return self._topics.setdefault(name, Queue(settings, StandardOrder(None)))

    def subscribe(self, topic: str, name: str, queue: str) -> None:
        """Let a queue get what is published.

        Raises:
            ValueError: a subscription that exists already, or a queue that does not exist.
        """
        subscriptions = self._subscriptions.setdefault(self.create(topic).settings.name, {})
        if name in subscriptions:
            raise ValueError(f"the topic {topic!r} has a subscription {name!r} already; write another name")
        if queue not in self._broker.queues:
            self._broker.create(Settings(name=queue))
        subscriptions[name] = queue

    def existing(self, name: str) -> Queue:
        """Return the topic of a name.

        Raises:
            LookupError: a topic that does not exist.
        """
        if name not in self._topics:
            known = ", ".join(sorted(self._topics)) or "no topic at all"
            raise LookupError(f"there is no topic {name!r}, but {known}; make it with create_topic({name!r})")
        return self._topics[name]

    def topic(self, name: str) -> Queue:
        """Return the topic to which something is published.

        Raises:
            Refusal: there is none, and none is to be made.
        """
        if name not in self._topics and not self._create_missing:
            raise Refusal("NotFoundException", "Topic does not exist", code="NotFound", status=404)
        return self.create(name)

    def publish(
        self, topic: Queue, body: str, attributes: Attributes, group: str | None, deduplication: str | None
    ) -> Stored:
        """Take a message, and send it on to the queues that subscribe."""
        known = len(topic.messages)
        published = self._broker.send(topic, body, attributes, group=group, deduplication=deduplication)
        if len(topic.messages) > known:  # else it repeats one of the last five minutes
            for name in self._subscriptions.get(topic.settings.name, {}).values():
                queue = self._broker.queue(name)
                own = deduplication if queue.settings.fifo else None
                self._broker.send(queue, body, attributes, group=group, deduplication=own)
        return published
