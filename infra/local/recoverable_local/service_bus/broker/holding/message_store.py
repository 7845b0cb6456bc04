"""Store the messages of an entity by sequence number, and find the next one to deliver."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator

from recoverable_local.service_bus.broker.holding.messages import Message, State


class MessageStore:
    """Messages in the order of their sequence numbers, for all or for each session.

    Args:
        by_session: True if each session has its own order.
    """

    def __init__(self, *, by_session: bool) -> None:
        self._by_session = by_session
        self._messages: dict[int, Message] = {}
        self._ready: dict[str | None, list[int]] = {}
        self._numbers = itertools.count(1)

    def next_number(self) -> int:
        """Return a new sequence number."""
        return next(self._numbers)

    def keep(self, message: Message) -> None:
        """Store a message in any state."""
        self._messages[message.sequence_number] = message

    def offer(self, message: Message) -> None:
        """Store a message that can be delivered."""
        self.keep(message)
        session_id = message.session_id if self._by_session else None
        heapq.heappush(self._ready.setdefault(session_id, []), message.sequence_number)

    def offers(self, session_id: str | None) -> bool:
        """True if there is a message to deliver. Drop entries whose message is gone or taken."""
        numbers = self._ready.get(session_id, [])
        while numbers:
            message = self._messages.get(numbers[0])
            if message is not None and _available(message):
                return True
            heapq.heappop(numbers)
        return False

    def take(self, session_id: str | None) -> Message | None:
        """Return the next message to deliver, and do not offer it again."""
        if not self.offers(session_id):
            return None
        return self._messages[heapq.heappop(self._ready[session_id])]

    def remove(self, message: Message) -> None:
        """Remove a message."""
        self._messages.pop(message.sequence_number, None)

    def find(self, number: int) -> Message | None:
        """Return the message with this sequence number, if there is one."""
        return self._messages.get(number)

    def from_number(self, number: int) -> Iterator[Message]:
        """Return all messages from a sequence number on, in order."""
        return (self._messages[each] for each in sorted(self._messages) if each >= number)

    def sessions(self) -> list[str]:
        """Return the sessions that have a message to deliver, the longest waiting first."""
        available = (message for message in self.from_number(0) if _available(message))
        return list(dict.fromkeys(each.session_id for each in available if each.session_id is not None))


def _available(message: Message) -> bool:
    return message.state is State.ACTIVE and message.lock is None
