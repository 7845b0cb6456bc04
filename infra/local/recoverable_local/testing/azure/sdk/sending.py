"""Offer the sending side of the world's Service Bus client: the SDK's interface and errors, without a connection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from azure.servicebus import ServiceBusMessage, ServiceBusMessageBatch
from azure.servicebus.amqp import AmqpAnnotatedMessage

from recoverable_local.service_bus.amqp import encoding
from recoverable_local.service_bus.broker.entity import Entity
from recoverable_local.service_bus.broker.holding.content import Content, parse
from recoverable_local.service_bus.broker.limits import check_size
from recoverable_local.service_bus.broker.profile import check_target, subscription_path
from recoverable_local.testing.azure.sdk.calls import Calls, perform
from recoverable_local.testing.azure.sdk.client import batch_of, encode, encoded_messages
from recoverable_local.testing.azure.sdk.receiving import Receiver, Wait, path_of
from recoverable_local.testing.engine.connection import Connection

T = TypeVar("T")
One = ServiceBusMessage | AmqpAnnotatedMessage

NAMESPACE = "world.servicebus.windows.net"
SCHEDULED = "x-opt-scheduled-enqueue-time"
KEEP_ALIVE = 30
"""Seconds between keep-alive frames, unless a sender is made with another number; 0 sends none."""

IDLE_LINK, SILENT_CONNECTION = 600.0, 240.0
"""Seconds after which Service Bus ends a link that nobody uses, and a connection without keep-alive frames."""


class Client:
    """A client of one process, as `azure.servicebus.ServiceBusClient`.

    Args:
        find: returns the queue of a name.
        calls: makes the calls, with their faults.
        wait: lets time pass while somebody receives.
    """

    def __init__(self, find: Callable[[str], Entity], calls: Calls, wait: Wait) -> None:
        self._find, self._calls, self._wait = find, calls, wait

    def __enter__(self) -> Client:
        """Do nothing: each sender has its own connection."""
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: each sender has its own connection."""

    def close(self) -> None:
        """Do nothing: each sender has its own connection."""

    @property
    def fully_qualified_namespace(self) -> str:
        """Return the namespace's name."""
        return NAMESPACE

    def get_queue_sender(self, queue_name: str, *, keep_alive: float = KEEP_ALIVE) -> Sender:
        """Return a sender of a queue, with a connection of its own."""
        connection = self._calls.connection(IDLE_LINK if keep_alive else SILENT_CONNECTION)
        return Sender(queue_name, self._find, self._calls, connection)

    def get_topic_sender(self, topic_name: str, *, keep_alive: float = KEEP_ALIVE) -> Sender:
        """Return a sender of a topic, with a connection of its own."""
        return self.get_queue_sender(topic_name, keep_alive=keep_alive)

    def get_subscription_receiver(self, topic_name: str, subscription_name: str, **options: Any) -> Receiver:
        """Return a receiver of a topic's subscription, with peek-lock."""
        return self.get_queue_receiver(subscription_path(topic_name, subscription_name), **options)

    def get_queue_receiver(
        self, queue_name: str, *, session_id: Any = None, sub_queue: Any = None, max_wait_time: float | None = None
    ) -> Receiver:
        """Return a receiver of a queue, with peek-lock."""
        entity = perform(lambda: self._find(path_of(queue_name, sub_queue)))
        return Receiver(entity, self._wait, session_id, max_wait_time)


class Sender:
    """Sends to one queue, as `azure.servicebus.ServiceBusSender`.

    Args:
        queue: the queue's name.
        find: returns the queue of a name.
        calls: makes the calls, with their faults.
        connection: its connection.
    """

    def __init__(self, queue: str, find: Callable[[str], Entity], calls: Calls, connection: Connection) -> None:
        self._queue, self._find, self._calls, self._connection = queue, find, calls, connection

    @property
    def entity_name(self) -> str:
        """Return the queue's name; wait first until no other call of this process to it runs, because it is asked for before each send."""
        self._calls.wait(self._queue)
        return self._queue

    def __enter__(self) -> Sender:
        """Do nothing: the first call opens the connection."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def create_message_batch(self, max_size_in_bytes: int | None = None) -> ServiceBusMessageBatch:
        """Return an empty batch of the SDK, as large as the queue accepts."""
        return self._call(
            "create_message_batch",
            lambda queue: ServiceBusMessageBatch(max_size_in_bytes or queue.profile.max_message_size),
        )

    def send_messages(
        self,
        message: One | ServiceBusMessageBatch | Sequence[One],
        *,
        timeout: float | None = None,  # noqa: ARG002  # the world answers at once or as the test wants it
    ) -> None:
        """Send one message, a batch, or a list in one batch: all are accepted, or none."""
        if isinstance(message, One) or len(message):
            self._call("send_messages", lambda queue: put(queue, to_contents(queue, message)))

    def schedule_messages(
        self,
        messages: ServiceBusMessage | Sequence[ServiceBusMessage],
        schedule_time_utc: datetime,
        *,
        timeout: float | None = None,  # noqa: ARG002  # as above
    ) -> list[int]:
        """Send messages that appear later; return the sequence numbers by which they can be cancelled."""
        when = encoding.timestamp(int(schedule_time_utc.timestamp() * 1000))

        def schedule(queue: Entity) -> list[int]:
            found = to_contents(queue, messages)
            return put(queue, [content.with_annotations({SCHEDULED: when}) for content in found])

        return self._call("schedule_messages", schedule)

    def cancel_scheduled_messages(
        self,
        sequence_numbers: int | Sequence[int],
        *,
        timeout: float | None = None,  # noqa: ARG002  # as above
    ) -> None:
        """Cancel scheduled messages."""
        numbers = [sequence_numbers] if isinstance(sequence_numbers, int) else sequence_numbers
        self._call("cancel_scheduled_messages", lambda queue: queue.cancel(numbers))

    def _call(self, what: str, do: Callable[[Entity], T]) -> T:
        return self._calls.make(what, self._queue, lambda: do(self._target()), self._connection)

    def _target(self) -> Entity:
        check_target(self._queue)
        return self._find(self._queue)


def to_contents(queue: Entity, message: Any) -> list[Content]:
    """Return the broker's form of one message or of a batch, if its size is allowed.

    Raises:
        RefusedError: it is not.
        MessageSizeExceededError: the messages are too large for one batch.
    """
    largest = queue.profile.max_message_size
    if isinstance(message, One):
        data = encode(message)
        check_size(len(data), most=largest)
        return [parse(data)]
    batch = message if isinstance(message, ServiceBusMessageBatch) else batch_of(message, largest)
    check_size(batch.size_in_bytes, most=largest)
    return [parse(data) for data in encoded_messages(batch)]


def put(queue: Entity, messages: list[Content]) -> list[int]:
    """Add all messages to the queue, or none.

    Raises:
        RefusedError: one breaks a rule.
    """
    for content in messages:
        queue.check(content)
    return [queue.put(content) for content in messages]
