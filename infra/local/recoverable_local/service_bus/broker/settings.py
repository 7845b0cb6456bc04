"""How queues, topics and subscriptions are set; the names are those of Service Bus."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from recoverable_local.service_bus.broker.filters import Filter, TrueFilter
from recoverable_local.service_bus.broker.limits import MAX_MESSAGE

_MAX_LOCK = timedelta(minutes=5)  # Service Bus


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue.

    Args:
        name: Its name, without slashes.
        lock_duration: How long a received message is hidden from others; up to 5 minutes.
        max_delivery_count: After so many failed deliveries a message is dead-lettered.
        default_message_time_to_live: The longest that a message stays; no limit when None.
        dead_lettering_on_message_expiration: Whether what expires is dead-lettered, instead of dropped.
        requires_session: Whether each message belongs to a session, and receivers take sessions.
        duplicate_detection_window: For how long a message id is taken once only; not looked at when None.
        forward_to: The queue or topic that gets all messages instead.
        forward_dead_lettered_messages_to: The queue or topic that gets what is dead-lettered.
        max_message_size: In bytes; 256 KiB on the tiers Basic and Standard.

    Raises:
        ValueError: A setting is none that Service Bus takes.
    """

    name: str
    lock_duration: timedelta = timedelta(minutes=1)
    max_delivery_count: int = 10
    default_message_time_to_live: timedelta | None = None
    dead_lettering_on_message_expiration: bool = False
    requires_session: bool = False
    duplicate_detection_window: timedelta | None = None
    forward_to: str | None = None
    forward_dead_lettered_messages_to: str | None = None
    max_message_size: int = MAX_MESSAGE

    def __post_init__(self) -> None:
        """Check what was written."""
        _check(self, "queue")


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription of a topic; it gets what passes one of its filters.

    Args:
        name: Its name, without slashes.
        filters: Which messages it gets.
        others: As of a `Queue`.

    Raises:
        ValueError: A setting is none that Service Bus takes.
    """

    name: str
    filters: tuple[Filter, ...] = (TrueFilter(),)
    lock_duration: timedelta = timedelta(minutes=1)
    max_delivery_count: int = 10
    default_message_time_to_live: timedelta | None = None
    dead_lettering_on_message_expiration: bool = False
    requires_session: bool = False
    forward_to: str | None = None
    forward_dead_lettered_messages_to: str | None = None

    def __post_init__(self) -> None:
        """Check what was written."""
        _check(self, "subscription")


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic; what is sent to it is copied to its subscriptions.

    Args:
        name: Its name, without slashes.
        subscriptions: Who gets copies.
        duplicate_detection_window: For how long a message id is taken once only; not looked at when None.
    """

    name: str
    subscriptions: tuple[Subscription, ...] = ()
    duplicate_detection_window: timedelta | None = None


def _check(settings: Queue | Subscription, kind: str) -> None:
    if not settings.name or "/" in settings.name:
        raise ValueError(f"the {kind}'s name is {settings.name!r}; write one without slashes, such as 'orders'")
    if not timedelta() < settings.lock_duration <= _MAX_LOCK:
        raise ValueError(f"lock_duration is {settings.lock_duration}; write more than nothing and up to {_MAX_LOCK}")
    if settings.max_delivery_count < 1:
        raise ValueError(f"max_delivery_count is {settings.max_delivery_count}; write 1 or more")
