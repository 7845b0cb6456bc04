"""Define a message in an entity, its states, and the ways to settle it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from uuid import UUID

from recoverable_local.service_bus.amqp import encoding as e
from recoverable_local.service_bus.broker.holding.content import Content


class State(Enum):
    """The state of a message, with Service Bus's number for it."""

    ACTIVE = 0
    DEFERRED = 1
    SCHEDULED = 2


class Verb(Enum):
    """The ways in which a receiver can settle a message that it has locked."""

    COMPLETE = "complete"
    ABANDON = "abandon"
    DEFER = "defer"
    DEAD_LETTER = "dead-letter"
    RELEASE = "release"  # return it without counting a delivery


@dataclass(frozen=True, slots=True)
class Verdict:
    """The settlement of a message by a receiver.

    Args:
        verb: The kind of settlement.
        reason: The dead-letter reason.
        description: The dead-letter error description.
        properties: Application properties to set, encoded.
    """

    verb: Verb
    reason: str | None = None
    description: str | None = None
    properties: Mapping[str, bytes] = field(default_factory=dict)

    def changes(self) -> dict[str, bytes]:
        """Return the application properties that the message gets by it, encoded."""
        given = {"DeadLetterReason": self.reason, "DeadLetterErrorDescription": self.description}
        return {**self.properties, **{name: e.string(text) for name, text in given.items() if text}}


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock; a receiver settles the message with its token. Times in seconds since 1970."""

    token: UUID
    until: float


@dataclass(slots=True)
class Message:
    """One message of one entity; times in seconds since 1970.

    Args:
        content: The message as the sender encoded it.
        sequence_number: Its number in the entity.
        enqueued_at: When it became available here, or will.
        expires_at: When its time to live ends.
        hops: How often it was forwarded.
        first_number: Its sequence number in the entity to which it was sent first.
    """

    content: Content
    sequence_number: int
    enqueued_at: float
    expires_at: float | None = None
    hops: int = 0
    first_number: int | None = None
    delivery_count: int = 0
    state: State = State.ACTIVE
    lock: Lock | None = None

    @property
    def session_id(self) -> str | None:
        """Return the session id that its sender set."""
        value = self.content.value_of("session_id")
        return None if value is None else str(value)

    def expired(self, now: float) -> bool:
        """True if its time to live is over."""
        return self.expires_at is not None and self.expires_at <= now

    def encode(self) -> bytes:
        """Encode the message for a receiver."""
        notes = {
            "x-opt-enqueued-time": e.timestamp(int(self.enqueued_at * 1000)),
            "x-opt-sequence-number": e.int64(self.sequence_number),
            "x-opt-message-state": e.int32(self.state.value),
        }
        token = {} if self.lock is None else {"x-opt-lock-token": e.uuid(self.lock.token)}
        if self.lock is not None:
            notes["x-opt-locked-until"] = e.timestamp(int(self.lock.until * 1000))
        if self.first_number is not None:
            notes["x-opt-enqueue-sequence-number"] = e.int64(self.first_number)
        return self.content.encode(delivery_count=self.delivery_count, annotations=notes, delivery=token)
