"""Show the messages of a queue or a subscription without receiving them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

from recoverable_local.service_bus.broker.entity import Entity
from recoverable_local.service_bus.broker.holding.messages import Message, State

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SeenMessage:
    """A copy of a message and its state at one moment.

    Args:
        sequence_number: Its number in the entity.
        message_id: The id that the sender set, or the broker if the sender set none.
        body: Its bytes.
        application_properties: Decoded, including the reason of a dead letter.
        delivery_count: The failed deliveries so far.
        state: `active`, `locked`, `deferred` or `scheduled`.
        enqueued_at: When it became available, or will.
        session_id: Its session.
    """

    sequence_number: int
    message_id: str
    body: bytes
    application_properties: Mapping[str, Any]
    delivery_count: int
    state: str
    enqueued_at: datetime
    session_id: str | None

    def json(self) -> Any:
        """Parse the body as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Depth:
    """A count of messages by state, of dead letters, and of messages that could not be forwarded (stranded)."""

    active: int = 0
    locked: int = 0
    deferred: int = 0
    scheduled: int = 0
    dead_letters: int = 0
    stranded: int = 0

    @property
    def total(self) -> int:
        """Return the number of messages in all states, without dead letters and stranded messages."""
        return self.active + self.locked + self.deferred + self.scheduled


class Call(Protocol):
    """Runs a function in the server's thread."""

    def __call__(self, act: Callable[[], T]) -> T:
        """Run a function, and return its result."""


@dataclass(frozen=True, slots=True)
class QueueView:
    """A view of a queue or a subscription.

    Args:
        entity: The queue.
        dead: Its dead-letter queue.
        transfer: Its transfer dead-letter queue.
        call: Runs a function in the server's thread.
    """

    entity: Entity
    dead: Entity
    transfer: Entity
    call: Call

    def messages(self) -> list[SeenMessage]:
        """Return all messages in order, in any state."""
        return self.call(lambda: _seen(self.entity))

    def dead_letters(self) -> list[SeenMessage]:
        """Return all dead letters in order."""
        return self.call(lambda: _seen(self.dead))

    def stranded(self) -> list[SeenMessage]:
        """Return all messages that could not be forwarded; in Service Bus they are in the transfer dead-letter queue."""
        return self.call(lambda: _seen(self.transfer))

    def depth(self) -> Depth:
        """Count the messages."""
        return self.call(self._counted)

    def _counted(self) -> Depth:
        """Count everything in one call, so that no message that moves in between is counted twice or not at all."""
        states = [each.state for each in _seen(self.entity)]
        counts = {name: states.count(name) for name in ("active", "locked", "deferred", "scheduled")}
        return Depth(**counts, dead_letters=len(_seen(self.dead)), stranded=len(_seen(self.transfer)))


def _seen(entity: Entity) -> list[SeenMessage]:
    return [_view(message) for message in entity.store.from_number(0)]


def _view(message: Message) -> SeenMessage:
    locked = message.lock is not None and message.state is State.ACTIVE
    return SeenMessage(
        sequence_number=message.sequence_number,
        message_id=str(message.content.value_of("message_id")),
        body=message.content.data(),
        application_properties=message.content.application_properties(),
        delivery_count=message.delivery_count,
        state="locked" if locked else message.state.name.lower(),
        enqueued_at=datetime.fromtimestamp(message.enqueued_at, UTC),
        session_id=message.session_id,
    )
