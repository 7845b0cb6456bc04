"""Define the settings of queues, topics and subscriptions, with the names of Service Bus."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

from recoverable_local.service_bus.broker.filters import Filter, Rule, TrueFilter
from recoverable_local.service_bus.broker.limits import MAX_MESSAGE

_SEGMENT = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_MAX_LOCK = timedelta(minutes=5)  # Service Bus
_MAX_DELIVERIES = 2_000  # "Service Bus quotas", as all here
_MIN_WINDOW, _MAX_WINDOW = timedelta(seconds=20), timedelta(days=7)
_LONGEST_PATH, _LONGEST_SUBSCRIPTION = 260, 50  # characters


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
        filters: The filters, and rules, which are filters with an action.
        dead_lettering_on_filter_evaluation_exceptions: True to dead-letter a message for which a condition has no value, False to drop it.
        others: As in `Queue`.

    Raises:
        ValueError: Service Bus does not accept a setting.
    """

    name: str
    filters: tuple[Filter | Rule, ...] = (TrueFilter(),)
    lock_duration: timedelta = timedelta(minutes=1)
    max_delivery_count: int = 10
    default_message_time_to_live: timedelta | None = None
    dead_lettering_on_message_expiration: bool = False
    requires_session: bool = False
    forward_to: str | None = None
    forward_dead_lettered_messages_to: str | None = None
    dead_lettering_on_filter_evaluation_exceptions: bool = True

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

    Raises:
        ValueError: Service Bus does not accept a setting.
    """

    name: str
    subscriptions: tuple[Subscription, ...] = ()
    duplicate_detection_window: timedelta | None = None

    def __post_init__(self) -> None:
        """Check the values."""
        _check_path(self.name, "topic")
        _check_window(self.duplicate_detection_window)


def _check_path(name: str, kind: str) -> None:
    """Raise ValueError unless it is the name of a queue or a topic: segments of letters, digits, and between them dots, hyphens and underscores.

    Source: the error 40000 of Service Bus, "Entity segments can contain only letters, numbers, periods (.), hyphens (-), and underscores (_)".
    A segment `Subscriptions` would make the name one of a subscription.
    """
    segments = name.split("/")
    unlike = any(not _SEGMENT.fullmatch(each) or each.lower() == "subscriptions" for each in segments)
    if unlike or len(name) > _LONGEST_PATH:
        raise ValueError(
            f"the {kind}'s name is {name!r}; write letters, digits, dots, hyphens and underscores, such as 'sales/orders',"
            f" at most {_LONGEST_PATH}"
        )


def _check_window(window: timedelta | None) -> None:
    if window is not None and not _MIN_WINDOW <= window <= _MAX_WINDOW:
        raise ValueError(f"duplicate_detection_window is {window}; write {_MIN_WINDOW} to {_MAX_WINDOW}, or None")


def _check(settings: Queue | Subscription, kind: str) -> None:
    if isinstance(settings, Queue):
        _check_path(settings.name, kind)
        _check_window(settings.duplicate_detection_window)
    elif not _SEGMENT.fullmatch(settings.name) or len(settings.name) > _LONGEST_SUBSCRIPTION:
        raise ValueError(
            f"the {kind}'s name is {settings.name!r}; write one without slashes, such as 'orders', of letters, digits, dots, hyphens"
            f" and underscores, at most {_LONGEST_SUBSCRIPTION}"
        )
    if not timedelta() < settings.lock_duration <= _MAX_LOCK:
        raise ValueError(f"lock_duration is {settings.lock_duration}; write more than nothing and up to {_MAX_LOCK}")
    if not 1 <= settings.max_delivery_count <= _MAX_DELIVERIES:
        raise ValueError(
            f"max_delivery_count is {settings.max_delivery_count}; write 1 or more, up to {_MAX_DELIVERIES}"
        )
    lifetime = settings.default_message_time_to_live
    if lifetime is not None and lifetime <= timedelta():
        raise ValueError(f"default_message_time_to_live is {lifetime}; write more than nothing, or None")
    if settings.requires_session and settings.forward_to:
        raise ValueError(
            f"the {kind} {settings.name!r} requires sessions and forwards to {settings.forward_to!r}; leave out one of the two"
        )
