"""Define the settings of queues, topics and subscriptions, with the names of Service Bus."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

from recoverable_local.service_bus.broker.filters import Filter, TrueFilter
from recoverable_local.service_bus.broker.limits import MAX_MESSAGE

_SEGMENT = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_MAX_LOCK = timedelta(minutes=5)  # Service Bus


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue.

    Args:
        name: Its name; it may have slashes, as in "sales/orders".
        lock_duration: How long a received message is hidden from others; up to 5 minutes.
        max_delivery_count: A message is dead-lettered after this many failed deliveries.
        default_message_time_to_live: The longest that a message stays; None for no limit.
        dead_lettering_on_message_expiration: True to dead-letter expired messages, False to drop them.
        requires_session: True if each message belongs to a session, and receivers accept sessions.
        duplicate_detection_window: How long a second message with the same id is dropped; None for no detection.
        forward_to: The queue or topic that gets all messages instead.
        forward_dead_lettered_messages_to: The queue or topic that gets dead-lettered messages.
        max_message_size: In bytes; 256 KiB on the tiers Basic and Standard.

    Raises:
        ValueError: Service Bus does not accept a setting.
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
        """Check the values."""
        _check(self, "queue")


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription of a topic; it gets messages that match one of its filters.

    Args:
        name: Its name, without slashes.
        filters: The filters.
        others: As in `Queue`.

    Raises:
        ValueError: Service Bus does not accept a setting.
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
        """Check the values."""
        _check(self, "subscription")


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic; its subscriptions get copies of its messages.

    Args:
        name: Its name; it may have slashes, as in "sales/events".
        subscriptions: The subscriptions.
        duplicate_detection_window: How long a second message with the same id is dropped; None for no detection.
    """

    name: str
    subscriptions: tuple[Subscription, ...] = ()
    duplicate_detection_window: timedelta | None = None

    def __post_init__(self) -> None:
        """Check the name."""
        _check_path(self.name, "topic")


def _check_path(name: str, kind: str) -> None:
    """Raise ValueError unless it is the name of a queue or a topic: segments of letters, digits, and between them dots, hyphens and underscores.

    Source: the error 40000 of Service Bus, "Entity segments can contain only letters, numbers, periods (.), hyphens (-), and underscores (_)".
    A segment `Subscriptions` would make the name one of a subscription.
    """
    segments = name.split("/")
    if any(not _SEGMENT.fullmatch(each) or each.lower() == "subscriptions" for each in segments):
        raise ValueError(
            f"the {kind}'s name is {name!r}; write letters, digits, dots, hyphens and underscores, such as 'sales/orders'"
        )


def _check(settings: Queue | Subscription, kind: str) -> None:
    if isinstance(settings, Queue):
        _check_path(settings.name, kind)
    elif not settings.name or "/" in settings.name:
        raise ValueError(f"the {kind}'s name is {settings.name!r}; write one without slashes, such as 'orders'")
    if not timedelta() < settings.lock_duration <= _MAX_LOCK:
        raise ValueError(f"lock_duration is {settings.lock_duration}; write more than nothing and up to {_MAX_LOCK}")
    if settings.max_delivery_count < 1:
        raise ValueError(f"max_delivery_count is {settings.max_delivery_count}; write 1 or more")
