"""Read a Service Bus error queue that requires sessions, session by session, and send its messages back."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from recoverable_operate.errors._azure.answers import call_error
from recoverable_operate.errors._azure.client import ServiceBusErrorQueue
from recoverable_operate.errors._azure.entity import Entity
from recoverable_operate.errors._azure.receiver_client import receiver_of
from recoverable_operate.errors._message import FailedMessage, some
from recoverable_operate.errors._queue import Backlog, Copy, GivenBack, OperateError, SendResult, Stop

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusClient, ServiceBusReceiver

MOST_SESSIONS = 100
"""Sessions that a look holds at once; each has a connection of its own."""


class SessionErrorQueue:
    """A Service Bus error queue with sessions.

    Args:
        client: tries each call once, because a time-out says that there is no further session.
        entity: the queue.
        whole: the queue, from which nothing is received: it sends.
        stop: ends a look.
        part_of: returns the part of the queue that is one session.
        poll: seconds to wait for a session.
    """

    trusted_source = True
    ordered = False
    sends_along = False
    depth = None  # it takes the right Manage to ask for it

    def __init__(
        self,
        client: ServiceBusClient,
        entity: Entity,
        whole: ServiceBusErrorQueue,
        *,
        stop: Stop,
        part_of: Callable[[str], ServiceBusErrorQueue],
        poll: float = 2,
    ) -> None:
        self.address = entity.address
        self._client, self._entity, self._stop = client, entity, stop
        self._part_of, self._poll = part_of, max(poll, 0.5)
        self._parts: dict[str, ServiceBusErrorQueue] = {}
        self._whole = whole
        self._held_by_others: list[str] = []
        self._ended: str | None = None

    def canonical(self, queue: str) -> str:
        """Return the full address of a queue."""
        return self._whole.canonical(queue)

    def sources(self) -> list[str]:
        """Return nothing: of each message the broker says the source itself."""
        return []

    def backlog(self, queue: str) -> Backlog:
        """Return how much another queue holds."""
        return self._whole.backlog(queue)

    def notes(self) -> list[str]:
        """Return what looking does."""
        return [
            *self._whole.notes(),
            "This queue has sessions: a look holds each session while it reads it. "
            "Sessions that others hold are named, not read.",
        ]

    def look(self) -> Generator[FailedMessage, None, None]:
        """Accept one session after the other, and peek at its messages; all are given back at the end."""
        self._ended = None
        with ExitStack() as held:
            while not self._stop.requested and (receiver := self._next_session()):
                held.callback(receiver.close)
                name = receiver.session.session_id
                if name in self._parts:
                    break  # its lock has ended, and it is handed out again: so all others were
                part = self._parts[name] = self._part_of(name)
                part.receiver.accept(receiver)
                held.callback(part.receiver.release)
                yield from part.look()
                self._ended = self._ended or part.ending()
                if len(self._parts) >= MOST_SESSIONS:
                    self._ended = f"{MOST_SESSIONS} sessions are read; run it again for the others"
                    return
            if others := self._sessions_of_others():
                self._ended = f"other receivers hold these sessions, which are not read: {some(others)}"

    def ending(self) -> str | None:
        """Return why the look ended early."""
        return self._ended

    def choose(self, message: FailedMessage, to: str) -> None:
        """Note where a message is to be sent."""
        self._parts[str(message.group_id)].choose(message, to)

    def take(self) -> Iterator[tuple[str, list[FailedMessage]]]:
        """Yield the chosen messages session by session; each is given back before the next."""
        for name, part in self._parts.items():
            if not part.chosen():
                continue
            try:
                yield from part.take()
            except OperateError:
                if part.chosen() and not part.receiver.is_open:
                    self._held_by_others.append(name)
                    continue
                raise
            part.give_back()

    def missed(self) -> str | None:
        """Return what was chosen and not reached."""
        found = [text for part in self._parts.values() if (text := part.missed())]
        if self._held_by_others:
            found.append(f"these sessions are held by other receivers: {some(self._held_by_others)}")
        return "; ".join(found) or None

    def send(self, to: str, copies: Sequence[Copy], delay: timedelta | None) -> SendResult:
        """Send the copies."""
        return self._whole.send(to, copies, delay)

    def delete(self, messages: Sequence[FailedMessage]) -> dict[str, str]:
        """Complete taken messages, which are all of one session."""
        return self._parts[str(messages[0].group_id)].delete(messages)

    def to_line(self, message: FailedMessage) -> dict[str, Any]:
        """Return the record of a message."""
        return self._whole.to_line(message)

    def from_line(self, line: Mapping[str, Any], body: bytes | None) -> FailedMessage:
        """Return the message of a record with this body."""
        return self._whole.from_line(line, body)

    def keep(self) -> None:
        """Renew what is held."""
        for part in self._parts.values():
            part.keep()

    def arrivals(self) -> Iterator[FailedMessage]:
        """Peek at what has come to the sessions that nobody holds."""
        yield from self.look()

    def give_back(self) -> GivenBack:
        """Give back all sessions."""
        visible = sum(part.give_back().visible for part in self._parts.values())
        self._whole.give_back()
        return GivenBack(visible)

    def _sessions_of_others(self) -> list[str]:
        """Return the sessions that have messages and were not handed out, as far as they still cannot be locked.

        The list has also those that have no messages but a state, and those that came meanwhile.
        """
        if self._stop.requested:
            return []
        with call_error(self.address):
            names = list_sessions(self._client, self._entity)
            return [name for name in names if name not in self._parts and self._is_locked(name)]

    def _is_locked(self, name: str) -> bool:
        """True if another receiver holds the session."""
        from azure.servicebus.exceptions import SessionCannotBeLockedError

        receiver = receiver_of(self._client, self._entity, session_id=name, max_wait_time=self._poll)
        try:
            receiver.__enter__()
        except SessionCannotBeLockedError:
            return True
        finally:
            receiver.close()
        return False

    def _next_session(self) -> ServiceBusReceiver | None:
        from azure.servicebus import NEXT_AVAILABLE_SESSION
        from azure.servicebus.exceptions import OperationTimeoutError

        receiver = receiver_of(self._client, self._entity, session_id=NEXT_AVAILABLE_SESSION, max_wait_time=self._poll)
        try:
            return receiver.__enter__()
        except OperationTimeoutError:
            receiver.close()
            return None


def list_sessions(client: ServiceBusClient, entity: Entity) -> list[str]:
    """Return the sessions of an entity that have messages or a state, in order (com.microsoft:get-message-sessions)."""
    if entity.subscription:
        return sorted(set(client.list_subscription_sessions(*entity.subscription)))
    return sorted(set(client.list_queue_sessions(entity.path)))
