"""Peek at a Service Bus error queue, take its messages from the head, and send, complete or abandon."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from recoverable.operate.azure import messages as wire
from recoverable.operate.azure.answers import call_error, describe
from recoverable.operate.azure.entity import Entity, entity_of
from recoverable.operate.azure.locks import Locks
from recoverable.operate.azure.senders_client import Senders
from recoverable.operate.failed import ACTIVE, FailedMessage
from recoverable.operate.holding import Held, Holding
from recoverable.operate.port import Clock, Copy, GivenBack, OperateError, SendResult, Stop

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusClient, ServiceBusReceivedMessage, ServiceBusReceiver

PEEKED = 100
"""Messages of one peek."""

BATCH = 10

DELIVERIES_LEFT = 2
"""Deliveries that must be left to a message that is only passed over, for abandoning it counts as one."""


class ServiceBusErrorQueue:
    """A Service Bus error queue without sessions, or a dead-letter subqueue.

    Args:
        client: reads it.
        sending: a client that tries each send once.
        entity: the queue.
        clock: tells the time.
        stop: ends a look.
        max_delivery_count: the queue's MaxDeliveryCount, which those who only listen are not told.
        poll: seconds to wait for messages at the head.
        session: the session of which this is the part; None for a queue without sessions.
    """

    trusted_source = True
    ordered = False
    sends_along = False

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
        self._client, self._entity, self._clock, self._stop = client, entity, clock, stop
        self._max_delivery_count, self._poll, self.session = max_delivery_count, max(poll, 0.5), session
        self._senders = Senders(sending, entity, clock)
        self._holding, self._chosen_last, self._seen_last = Holding(), 0, 0
        self._deliveries = _Passed()
        self._opened: ServiceBusReceiver | None = None
        self._ended: str | None = None
        self._locks = Locks(self._renew, clock)

    @property
    def address(self) -> str:
        """Return the queue's full address."""
        return self._entity.address

    def canonical(self, queue: str) -> str:
        """Return the full address of a queue, given by address or name."""
        return entity_of(queue if "://" in queue else f"sb://{self._entity.namespace}/{queue}").address

    def sources(self) -> list[str]:
        """Return the queue whose dead-letter subqueue this is; of other queues each message says the source itself."""
        if not self._entity.dead_letters or self._entity.subscription:
            return []
        return [wire.address_of(self._entity.namespace, self._entity.path)]

    def notes(self) -> list[str]:
        """Return nothing for a look, which is a peek and changes nothing."""
        return []

    def look(self) -> Generator[FailedMessage, None, None]:
        """Peek at each message once."""
        number = self._seen_last + 1
        while not self._stop.requested:
            with call_error(self.address):
                found = self._receiver().peek_messages(PEEKED, sequence_number=number)
            for received in found:
                number = (received.sequence_number or 0) + 1
                if self.session in (None, received.session_id):
                    self._seen_last = number - 1
                    message = self._failed(wire.record_of(received))
                    self._deliveries.see(message)
                    yield message
            if not found:
                return

    def ending(self) -> str | None:
        """Return why the look ended early."""
        return self._ended

    def choose(self, message: FailedMessage, to: str) -> None:
        """Note where a message is to be sent."""
        self._holding.add(Held(message.broker_id, "", "", to), until=0, now=0)
        self._chosen_last = max(self._chosen_last, int(message.broker_id))
        self._deliveries.choose()

    def take(self) -> Iterator[tuple[str, list[FailedMessage]]]:
        """Receive from the head to the last chosen message; what was not chosen stays locked until the end."""
        self._check_deliveries()
        while self._holding.chosen_count() and not self._stop.requested:
            if len(self._locks) >= self._locks.capacity():
                self._ended = f"{len(self._locks)} locks are all that can be renewed in time"
                return
            if not (received := self._receive()):
                self._ended = "they are no longer there, or locked by another receiver"
                return
            yield from self._split(received)
            if self._passed_last(received):
                self._ended = "they are no longer there, or locked by another receiver"
                return

    def missed(self) -> str | None:
        """Return what was chosen and not reached."""
        if not (count := self._holding.chosen_count()):
            return None
        return f"{count} messages were not reached: {self._ended}"

    def send(self, to: str, copies: Sequence[Copy], delay: timedelta) -> SendResult:
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
                self._receiver().complete_message(held)
            except Exception as error:  # noqa: BLE001  # whatever it is, it is told, and the journal knows that the copy was sent
                failed[each.broker_id] = describe(error, self.address, "Listen")
            self._locks.remove(each.broker_id)
        return failed

    def to_line(self, message: FailedMessage) -> dict[str, Any]:
        """Return the record of a message."""
        return dict(message.native)

    def from_line(self, line: Mapping[str, Any]) -> FailedMessage:
        """Return the message of a record."""
        return self._failed(wire.checked_record(line))

    def keep(self) -> None:
        """Renew the locks that end soon."""
        self._locks.keep()

    def arrivals(self) -> Iterator[FailedMessage]:
        """Peek at what has come since the look."""
        yield from self.look()

    def give_back(self) -> GivenBack:
        """Abandon what is still locked, which counts a delivery, and close."""
        back = 0
        for number, held in self._locks:
            try:
                self._receiver().abandon_message(held)
                back += 1
            except Exception:  # noqa: BLE001, S110  # its lock ends by itself, which does the same
                pass
            self._locks.remove(number)
        self._senders.close()
        self.release()
        return GivenBack(back)

    @property
    def is_open(self) -> bool:
        """True if it has a receiver."""
        return self._opened is not None

    def refused_for_sessions(self) -> bool:
        """True if the queue hands out its messages by session only; those who only listen cannot read its settings."""
        try:
            with call_error(self.address):
                self._receiver().peek_messages(1)
        except OperateError as error:
            why = str(error.__cause__)
            if "require" not in why or "session" not in why:
                raise
            self.release()
            return True
        return False

    def release(self) -> None:
        """Close the receiver, which gives a session to others."""
        if self._opened is not None:
            self._opened.close()
        self._opened = None

    def accept(self, receiver: ServiceBusReceiver) -> None:
        """Use a receiver that is open already."""
        self._opened = receiver

    def chosen(self) -> int:
        """Return how many messages are chosen and not taken."""
        return self._holding.chosen_count()

    def _renew(self, message: ServiceBusReceivedMessage) -> Any:
        receiver = self._receiver()
        return receiver.renew_message_lock(message) if self.session is None else receiver.session.renew_lock()

    def _receiver(self) -> ServiceBusReceiver:
        if self._opened is None:
            with call_error(self.address):
                options = {} if self.session is None else {"session_id": self.session, "max_wait_time": self._poll}
                self._opened = receiver_of(self._client, self._entity, **options).__enter__()
        return self._opened

    def _receive(self) -> list[ServiceBusReceivedMessage]:
        room = self._locks.capacity() - len(self._locks)
        with call_error(self.address):
            found = self._receiver().receive_messages(min(room, BATCH), max_wait_time=self._poll)
        for each in found:
            until = each.locked_until_utc if self.session is None else self._receiver().session.locked_until_utc
            self._locks.add(str(each.sequence_number), each, until or self._clock.now())
        return found

    def _split(self, received: list[ServiceBusReceivedMessage]) -> Iterator[tuple[str, list[FailedMessage]]]:
        """Yield the chosen ones by the queue that they go to."""
        by_target: dict[str, list[FailedMessage]] = {}
        for each in received:
            target = self._holding.target(str(each.sequence_number))
            if target is not None:
                by_target.setdefault(target, []).append(self._failed(wire.record_of(each)))
        for target, found in by_target.items():
            self._holding.forget([each.broker_id for each in found])
            yield target, found

    def _passed_last(self, received: list[ServiceBusReceivedMessage]) -> bool:
        """True if all that was chosen lies before what was just received."""
        return min(each.sequence_number or 0 for each in received) > self._chosen_last

    def _check_deliveries(self) -> None:
        """Refuse if a message that is only passed over might be dead-lettered for it.

        Raises:
            OperateError: it might.
        """
        left = self._max_delivery_count - self._deliveries.most
        if not self._entity.dead_letters and left < DELIVERIES_LEFT:
            raise OperateError(
                f"a message before the chosen ones was delivered {self._deliveries.most} times, and passing it over counts one more "
                f"of the {self._max_delivery_count} that MaxDeliveryCount is taken to be; choose it too, "
                "or give --max-delivery-count if the queue has more"
            )

    def _failed(self, record: wire.Record) -> FailedMessage:
        dead_letters_of = self._entity.path if self._entity.dead_letters else None
        return wire.failed_message(record, namespace=self._entity.namespace, dead_letters_of=dead_letters_of)


class _Passed:
    """Counts the deliveries of the messages that a redrive has to pass over: those before the last chosen one."""

    def __init__(self) -> None:
        self._since_chosen, self._current, self.most = 0, 0, 0

    def see(self, message: FailedMessage) -> None:
        """Note a message; it counts once a later one is chosen, unless it is chosen itself."""
        self._since_chosen = max(self._since_chosen, self._current)
        self._current = message.receives if message.state == ACTIVE else 0

    def choose(self) -> None:
        """Note that the message just seen is chosen."""
        self.most, self._since_chosen, self._current = max(self.most, self._since_chosen), 0, 0


def receiver_of(client: ServiceBusClient, entity: Entity, **options: Any) -> ServiceBusReceiver:
    """Return a receiver of the entity, with peek-lock."""
    from azure.servicebus import ServiceBusSubQueue

    if entity.dead_letters:
        options["sub_queue"] = ServiceBusSubQueue.DEAD_LETTER
    if subscription := entity.subscription:
        return client.get_subscription_receiver(*subscription, **options)
    return client.get_queue_receiver(entity.path, **options)
