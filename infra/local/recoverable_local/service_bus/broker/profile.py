"""What one entity is like, worked out from the settings of a queue, a dead-letter queue, a topic or a subscription."""

from __future__ import annotations

from dataclasses import dataclass, replace

from recoverable_local.service_bus.broker.limits import MAX_MESSAGE
from recoverable_local.service_bus.broker.settings import Queue, Subscription, Topic

DEAD_LETTERS = "/$DeadLetterQueue"
STRANDED = "/$Transfer/$DeadLetterQueue"
SUBSCRIPTIONS = "/Subscriptions/"

_LOCK = 60.0  # seconds; what nobody can lock has it too


@dataclass(frozen=True, slots=True)
class Profile:
    """An entity's traits; times in seconds, sizes in bytes, None for what is not limited.

    Args:
        path: Where it is addressed.
        lock: How long a lock lasts.
        deliveries: The failed deliveries after which a message is dead-lettered.
        time_to_live: The longest that a message stays.
        buries_expired: Whether what expires is dead-lettered.
        sessions: Whether it requires sessions.
        window: How long duplicates are detected.
        max_message_size: The largest message it takes.
    """

    path: str
    lock: float = _LOCK
    deliveries: int | None = None
    time_to_live: float | None = None
    buries_expired: bool = False
    sessions: bool = False
    window: float | None = None
    max_message_size: int = MAX_MESSAGE

    def longest_life(self, wanted: int | None) -> float | None:
        """How long a message stays whose sender wanted so many milliseconds; in seconds."""
        limits = [None if wanted is None else wanted / 1000, self.time_to_live]
        return min((limit for limit in limits if limit is not None), default=None)


def of_queue(queue: Queue) -> Profile:
    """The traits of a queue."""
    window = queue.duplicate_detection_window
    return replace(
        _receivable(queue, queue.name),
        window=window.total_seconds() if window else None,
        max_message_size=queue.max_message_size,
    )


def of_subscription(subscription: Subscription, *, topic: str) -> Profile:
    """The traits of a subscription."""
    return _receivable(subscription, f"{topic}{SUBSCRIPTIONS}{subscription.name}")


def of_topic(topic: Topic) -> Profile:
    """The traits of a topic, from which nobody receives."""
    window = topic.duplicate_detection_window
    return Profile(topic.name, window=window.total_seconds() if window else None)


def of_dead_letters(owner: Profile) -> Profile:
    """The traits of what holds the dead letters: no limit of deliveries, of time, and no sessions."""
    return Profile(owner.path + DEAD_LETTERS, lock=owner.lock, max_message_size=owner.max_message_size)


def of_stranded(owner: Profile) -> Profile:
    """The traits of what holds the messages that could not be forwarded: those of a dead-letter queue."""
    return replace(of_dead_letters(owner), path=owner.path + STRANDED)


def _receivable(settings: Queue | Subscription, path: str) -> Profile:
    ttl = settings.default_message_time_to_live
    return Profile(
        path,
        lock=settings.lock_duration.total_seconds(),
        deliveries=settings.max_delivery_count,
        time_to_live=ttl.total_seconds() if ttl else None,
        buries_expired=settings.dead_lettering_on_message_expiration,
        sessions=settings.requires_session,
    )
