"""Derive the settings of one entity from those of a queue, a topic or a subscription."""

from __future__ import annotations

from dataclasses import dataclass, replace

from recoverable_local.service_bus.broker.limits import MAX_MESSAGE
from recoverable_local.service_bus.broker.refusals import not_allowed
from recoverable_local.service_bus.broker.settings import Queue, Subscription, Topic

DEAD_LETTERS = "/$DeadLetterQueue"
TRANSFER_DEAD_LETTERS = "/$Transfer/$DeadLetterQueue"
SUBSCRIPTIONS = "/Subscriptions/"

_LOCK = 60.0  # seconds; the default, also of entities whose messages cannot be locked


@dataclass(frozen=True, slots=True)
class Profile:
    """The settings of an entity; times in seconds, sizes in bytes, None for no limit.

    Args:
        path: Its address in the namespace.
        lock: How long a lock lasts.
        deliveries: The failed deliveries after which a message is dead-lettered.
        time_to_live: The longest that a message stays.
        dead_letters_expired: True if expired messages are dead-lettered.
        sessions: True if it requires sessions.
        window: How long duplicates are detected; None for no detection.
        max_message_size: The largest message it takes.
    """

    path: str
    lock: float = _LOCK
    deliveries: int | None = None
    time_to_live: float | None = None
    dead_letters_expired: bool = False
    sessions: bool = False
    window: float | None = None
    max_message_size: int = MAX_MESSAGE

    def lifetime_limit(self, wanted: int | None) -> float | None:
        """Return how long a message stays, in seconds, when its sender set a time to live in milliseconds."""
        limits = [None if wanted is None else wanted / 1000, self.time_to_live]
        return min((limit for limit in limits if limit is not None), default=None)


def of_queue(queue: Queue) -> Profile:
    """Return the profile of a queue."""
    window = queue.duplicate_detection_window
    return replace(
        _receivable(queue, queue.name),
        window=window.total_seconds() if window else None,
        max_message_size=queue.max_message_size,
    )


def of_subscription(subscription: Subscription, *, topic: str) -> Profile:
    """Return the profile of a subscription."""
    return _receivable(subscription, subscription_path(topic, subscription.name))


def subscription_path(topic: str, subscription: str) -> str:
    """Return the path of a topic's subscription."""
    return f"{topic}{SUBSCRIPTIONS}{subscription}"


def check_target(path: str) -> None:
    """Check that messages can be sent to a path.

    Raises:
        RefusedError: It is that of a subscription, or of dead letters.
    """
    if path.lower().endswith(DEAD_LETTERS.lower()):
        raise not_allowed(f"Nobody sends to {path!r}; dead-letter a message instead.")
    if SUBSCRIPTIONS.lower() in path.lower():
        raise not_allowed(
            f"Nobody sends to {path!r}, a topic's subscription; let it forward to a queue (ForwardTo), and send there."
        )


def of_topic(topic: Topic) -> Profile:
    """Return the profile of a topic."""
    window = topic.duplicate_detection_window
    return Profile(topic.name, window=window.total_seconds() if window else None)


def of_dead_letters(owner: Profile) -> Profile:
    """Return the profile of an entity's dead-letter queue: no limit of deliveries or time, and no sessions."""
    return Profile(owner.path + DEAD_LETTERS, lock=owner.lock, max_message_size=owner.max_message_size)


def of_transfer_dead_letters(owner: Profile) -> Profile:
    """Return the profile of an entity's transfer dead-letter queue, for messages that could not be forwarded."""
    return replace(of_dead_letters(owner), path=owner.path + TRANSFER_DEAD_LETTERS)


def _receivable(settings: Queue | Subscription, path: str) -> Profile:
    ttl = settings.default_message_time_to_live
    return Profile(
        path,
        lock=settings.lock_duration.total_seconds(),
        deliveries=settings.max_delivery_count,
        time_to_live=ttl.total_seconds() if ttl else None,
        dead_letters_expired=settings.dead_lettering_on_message_expiration,
        sessions=settings.requires_session,
    )
