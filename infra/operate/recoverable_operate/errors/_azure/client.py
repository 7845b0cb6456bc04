"""Peek at a Service Bus error queue, take its messages from the head, and send, complete or abandon."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Generator, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from recoverable_operate.errors._azure import messages as wire
from recoverable_operate.errors._azure.answers import describe
from recoverable_operate.errors._azure.entity import Entity, entity_of
from recoverable_operate.errors._azure.locks import Locks
from recoverable_operate.errors._azure.marking_client import mark_types
from recoverable_operate.errors._azure.passed import Passed
from recoverable_operate.errors._azure.receiver_client import Receiver
from recoverable_operate.errors._azure.senders_client import Senders
from recoverable_operate.errors._holding import Holding
from recoverable_operate.errors._message import ACTIVE, SCHEDULED, FailedMessage
from recoverable_operate.errors._queue import Backlog, Clock, Copy, GivenBack, OperateError, SendResult, Stop

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusClient, ServiceBusReceivedMessage

BATCH = 10

WITHOUT_MARKS = (
    "This version of azure-servicebus does not say which of AMQP's types a value has: what is sent back keeps its kind, such as "
    "number or text, and gets the width that the SDK chooses."
)

CLOCKS_DIFFER = timedelta(minutes=1)
"""How far this machine's clock and Service Bus's may be apart. Peeking tells no depth, so a look ends at what is newer than itself."""

MOST_COUNTED = 1_000
"""Messages of another queue that are counted."""


class ServiceBusErrorQueue:
    """A Service Bus error queue without sessions, or a dead-letter subqueue.

    Args:
        client: reads it.
        sending: a client that tries each send once.
        entity: the queue.
        clock: tells the time.
        stop: ends a look.
        max_delivery_count: the queue's MaxDeliveryCount, which a connection with the right Listen alone cannot read.
        poll: seconds to wait for messages at the head.
        session: the session of which this is the part; None for a queue without sessions.
    """

    trusted_source = True
    ordered = False
    sends_along = False
    depth = None  # it takes the right Manage to ask for it

    def __init__(
        self,
        client: ServiceBusClient,
        sending: ServiceBusClient,
        entity: Entity,
        *,
        clock: Clock,
        stop: Stop,
        max_delivery_count: int = 10,
        poll: float = 2,
        session: str | None = None,
    ) -> None:
        self.address = entity.address
        self._client, self._entity, self._clock, self._stop = client, entity, clock, stop
        self.receiver = Receiver(client, entity, session=session, poll=max(poll, 0.5))
        self._senders = Senders(sending, entity, clock)
        self._holding, self._chosen_last, self._seen_last = Holding(), 0, 0
        self._passed = Passed(max_delivery_count)
        self._locks = Locks(self.receiver.renew, clock)
        self._ended: str | None = None
        dead_letters_of = entity.path if entity.dead_letters else None
        self._read = partial(wire.failed_message, namespace=entity.namespace, dead_letters_of=dead_letters_of)

    def canonical(self, queue: str) -> str:
        """Return the full address of a queue, given by address or name."""
        return entity_of(queue if "://" in queue else f"sb://{self._entity.namespace}/{queue}").address

    def sources(self) -> list[str]:
        """Return the queue whose dead-letter subqueue this is; of other queues each message says the source itself."""
        if not self._entity.dead_letters or self._entity.subscription:
            return []
        return [wire.address_of(self._entity.namespace, self._entity.path)]

    def backlog(self, queue: str) -> Backlog:
        """Peek at the first thousand messages of another queue; those that are locked are among the waiting ones."""
        entity = entity_of(queue)
        if entity.namespace != self._entity.namespace:
            raise OperateError(f"{queue} is in another namespace")
        peeking = Receiver(self._client, entity, session=None, poll=0)
        try:
            found, number = list[Any](), 1
            while len(found) < MOST_COUNTED and (some := peeking.peek(number)):
                found += some
                number = (some[-1].sequence_number or 0) + 1
        finally:
            peeking.release()
        active = [each for each in found if int(each.state) not in wire.STATES]
        scheduled = sum(wire.STATES.get(int(each.state)) == SCHEDULED for each in found)
        sent = active[0].enqueued_time_utc if active else None
        oldest = self._clock.now() - sent if sent else None
        return Backlog(len(active), None, scheduled, oldest, more=len(found) >= MOST_COUNTED)

    def notes(self) -> list[str]:
        """Return what sending back changes; a look is a peek and changes nothing."""
        return [] if mark_types() else [WITHOUT_MARKS]

    def look(self) -> Generator[FailedMessage, None, None]:
        """Peek at each message once, and end at those that others have sent since it began."""
        newest = self._clock.now() + CLOCKS_DIFFER
        for message in self.arrivals():
            if message.state == ACTIVE and message.enqueued_at and message.enqueued_at > newest:
                self._ended = "more have come since it began; run it again for these"
                return
            self._passed.see(message)
            yield message

    def arrivals(self) -> Iterator[FailedMessage]:
        """Peek at what has come since the look."""
        number = self._seen_last + 1
        while not self._stop.requested:
            found = self.receiver.peek(number)
            for received in found:
                number = (received.sequence_number or 0) + 1
                if self.receiver.session in (None, received.session_id):
                    self._seen_last = number - 1
                    yield self._read(wire.record_of(received))
            if not found:
                return

    def ending(self) -> str | None:
        """Return why the look ended early."""
        return self._ended

    def choose(self, message: FailedMessage, to: str) -> None:
        """Note where a message is to be sent."""
        self._holding.add(message.broker_id)
        self._holding.choose(message.broker_id, to)
        self._chosen_last = max(self._chosen_last, int(message.broker_id))
        self._passed.choose()

    def take(self) -> Iterator[tuple[str, list[FailedMessage]]]:
        """Receive from the head to the last chosen message; what was not chosen stays locked until the end."""
        if not self._entity.dead_letters:
            self._passed.check()
        while self._holding.chosen_count() and not self._stop.requested:
            if len(self._locks) >= self._locks.capacity():
                self._ended = f"{len(self._locks)} locks are all that can be renewed in time"
                return
            received = self._receive()
            yield from self._split(received)
            if all((each.sequence_number or 0) > self._chosen_last for each in received):
                self._ended = "they are no longer there, or locked by another receiver, such as a run that was killed; run it again in a minute"
                return

    def missed(self) -> str | None:
        """Return what was chosen and not reached."""
        if not (count := self._holding.chosen_count()):
            return None
        return f"{count} messages were not reached: {self._ended}"

    def send(self, to: str, copies: Sequence[Copy], delay: timedelta | None) -> SendResult:
        """Send the copies."""
        return self._senders.send(to, copies, delay)

    def delete(self, messages: Sequence[FailedMessage]) -> dict[str, str]:
        """Complete taken messages, one call each, for Service Bus has no other way."""
        failed: dict[str, str] = {}
        for each in messages:
            held = self._locks.get(each.broker_id)
            try:
                if held is None:
                    failed[each.broker_id] = "its lock is lost"
                    continue
                self.receiver.complete(held)
            except Exception as error:  # noqa: BLE001  # whatever it is, it is reported, and the journal knows that the copy was sent
                failed[each.broker_id] = describe(error, self.address, "Listen")
            self._locks.remove(each.broker_id)
        return failed

    def to_line(self, message: FailedMessage) -> dict[str, Any]:
        """Return the record of a message."""
        return {name: value for name, value in message.native.items() if name != "body" or value is None}

    def from_line(self, line: Mapping[str, Any], body: bytes | None) -> FailedMessage:
        """Return the message of a record with this body."""
        return self._read(wire.checked_record(line if body is None else {**line, "body": b64encode(body).decode()}))

    def keep(self) -> None:
        """Renew the locks that end soon."""
        self._locks.keep()

    def give_back(self) -> GivenBack:
        """Abandon what is still locked, which counts a delivery, and close."""
        back = 0
        for number, held in self._locks:
            try:
                self.receiver.abandon(held)
                back += 1
            except Exception:  # noqa: BLE001, S110  # its lock ends by itself, which does the same
                pass
            self._locks.remove(number)
        self._senders.close()
        self.receiver.release()
        return GivenBack(back)

    def chosen(self) -> int:
        """Return how many messages are chosen and not taken."""
        return self._holding.chosen_count()

    def _receive(self) -> Sequence[ServiceBusReceivedMessage]:
        """Lock the next messages, as many as can be renewed in time."""
        found = self.receiver.receive(min(self._locks.capacity() - len(self._locks), BATCH))
        for each in found:
            self._locks.add(str(each.sequence_number), each, self.receiver.locked_until(each) or self._clock.now())
        return found

    def _split(self, received: Sequence[ServiceBusReceivedMessage]) -> Iterator[tuple[str, list[FailedMessage]]]:
        """Yield the chosen ones by the queue that they go to."""
        by_target: dict[str, list[FailedMessage]] = {}
        for each in received:
            target = self._holding.target(str(each.sequence_number))
            if target is not None:
                by_target.setdefault(target, []).append(self._read(wire.record_of(each)))
        for target, found in by_target.items():
            self._holding.forget([each.broker_id for each in found])
            yield target, found
