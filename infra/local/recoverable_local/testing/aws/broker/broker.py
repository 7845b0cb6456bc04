"""Handle accepted messages as SQS does: deliver, hide, delete, expire and dead-letter them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from random import Random

from recoverable_local.testing.aws.broker.queue import Queue
from recoverable_local.testing.aws.broker.refusals import bad_receipt, invalid, invalid_value
from recoverable_local.testing.aws.broker.registry import Registry
from recoverable_local.testing.aws.broker.stored import Attributes, Stored
from recoverable_local.testing.timeline import What

LONGEST_VISIBILITY = 43_200
"""Seconds for which a message stays out of sight at most, counted from its receive (Amazon SQS visibility timeout)."""

DEDUPLICATION = 300
"""Seconds for which a FIFO queue remembers a deduplication id (Amazon SQS exactly-once processing)."""

EVEN = 0.5
"""How likely it is that an old handle hides a message that is visible again."""


class Broker:
    """All queues of a world, with SQS's rules.

    Args:
        start: when the world's time began.
        now: the world's time in seconds.
        note: writes down what happens to a message: what, the queue's name, the message's id, and a detail.
        seed: what ids and, unless None, orders are drawn from.
        create_missing: True if a queue is made when it is first named.
        hops: how many invocations the lineage of what is sent now has gone through.
    """

    def __init__(
        self,
        start: datetime,
        now: Callable[[], float],
        note: Callable[[What, str, str, str], None],
        hops: Callable[[], int],
        *,
        seed: int | None,
        create_missing: bool,
    ) -> None:
        self.start, self.now, self._note, self._hops = start, now, note, hops
        registry = Registry(seed, create_missing=create_missing)
        self.queues, self.create, self.queue = registry.queues, registry.create, registry.queue
        self.all: dict[str, tuple[Queue, Stored]] = {}
        self._ids = Random(f"ids {seed}")  # noqa: S311  # no secret: it must be the same in each run
        self._chance = None if seed is None else Random(f"late {seed}")  # noqa: S311  # as above
        self._receipts: dict[str, tuple[str, Stored]] = {}
        self._sends = self._receives = 0

    def send(
        self,
        queue: Queue,
        body: str,
        attributes: Attributes,
        *,
        delay: float | None = None,
        group: str | None = None,
        deduplication: str | None = None,
        trace: str | None = None,
    ) -> Stored:
        """Take a message; return the earlier one for a duplicate of the last five minutes."""
        now = self.now()
        earlier = queue.remembered.get(deduplication or "")
        if earlier is not None and earlier[0] > now:
            self._note("dropped as a duplicate", queue.settings.name, earlier[1].id, "of this earlier one")
            return earlier[1]
        self._sends += 1
        delay = queue.settings.delay if delay is None else delay
        message = Stored(
            self._new_id(),
            body,
            attributes,
            sent_at=now,
            visible_at=now + delay,
            number=self._sends,
            group=group,
            deduplication=deduplication,
            trace=trace,
            hops=self._hops(),
        )
        if deduplication:
            queue.remembered[deduplication] = (now + DEDUPLICATION, message)
        self.all[message.id] = (queue, message)
        queue.put(message)
        self._note("sent", queue.settings.name, message.id, f"visible after {delay:g} s" if delay else "")
        return message

    def receive(self, queue: Queue, most: int, visibility: float | None = None) -> list[Stored]:
        """Deliver up to so many messages, and hide them."""
        now, taken = self.now(), list[Stored]()
        hidden = queue.settings.visibility_timeout if visibility is None else visibility
        ready = queue.order.ready(now)
        while len(taken) < most and (message := next(ready, None)) is not None:
            if message not in taken and not self._is_unavailable(queue, message):
                self._hand_out(queue, message, hidden)
                taken.append(message)
        for message in taken:  # not before: one that stays visible is handed out once all the same
            queue.order.put(message)
        if taken:
            queue.notify_listeners()
        return taken

    def delete(self, queue: Queue, receipt: str) -> None:
        """Delete the message of that receive; one that is already gone is no error.

        Raises:
            Refusal: no receive gave the handle, or a FIFO queue's has expired.
        """
        message = self._received(queue, receipt)
        if message.id not in queue.messages:
            return
        self._check_handle(queue, message, receipt)
        if message.deletes_to_ignore:
            message.deletes_to_ignore -= 1
            self.show(queue, message, self.now())
            return
        queue.remove(message)
        self._note("deleted", queue.settings.name, message.id, "")
        queue.notify_listeners()

    def hide(self, queue: Queue, receipt: str, seconds: float) -> None:
        """Hide the message of that receive for this long from now, also if another has received it since.

        SQS takes an old handle of a standard queue. Whether one has an effect on a message that is visible again is not documented:
        a world with a seed draws it, and in one without it has none.

        Raises:
            Refusal: no receive gave the handle, the message is gone, a FIFO queue's handle has expired, or the message would be hidden
                for more than 12 hours in all.
        """
        message, now = self._received(queue, receipt), self.now()
        if message.id not in queue.messages:
            reason = "Message does not exist or is not available for visibility timeout change."
            raise invalid_value(receipt, "ReceiptHandle", reason)
        self._check_handle(queue, message, receipt)
        if now + seconds - message.received_at > LONGEST_VISIBILITY:
            raise invalid(f"Total VisibilityTimeout for the message is beyond the limit [{LONGEST_VISIBILITY} seconds]")
        if message.in_flight(now) or (self._chance and self._chance.random() < EVEN):
            self.show(queue, message, now + seconds)

    def show(self, queue: Queue, message: Stored, moment: float) -> None:
        """Make the message visible from a moment on."""
        message.visible_at = moment
        queue.order.put(message)
        after = moment - self.now()
        self._note("shown again", queue.settings.name, message.id, f"after {after:g} s" if after else "at once")
        queue.notify_listeners()

    def kept(self, queue: Queue) -> list[Stored]:
        """Return the messages that are in the queue now, hidden or not; drop the expired ones first."""
        for message in list(queue.messages.values()):
            self._is_expired(queue, message)
        return list(queue.messages.values())

    def purge(self, queue: Queue) -> None:
        """Delete all messages of a queue."""
        for message in list(queue.messages.values()):
            queue.remove(message)
        queue.notify_listeners()

    def _hand_out(self, queue: Queue, message: Stored, hidden: float) -> None:
        now = self.now()
        self._receives += 1
        message.receives += 1
        message.first_received_at = message.first_received_at if message.receives > 1 else now
        message.received_at, message.visible_at = now, now + hidden
        message.receipt = f"receipt-{self._receives}"
        self._receipts[message.receipt] = (queue.settings.name, message)
        self._note("received", queue.settings.name, message.id, f"receive {message.receives}")

    def _is_unavailable(self, queue: Queue, message: Stored) -> bool:
        if message.id not in queue.messages:  # it was in the line twice, and is in the dead-letter queue now
            return True
        return self._is_expired(queue, message) or self._is_dead(queue, message)

    def _is_expired(self, queue: Queue, message: Stored) -> bool:
        if message.sent_at + queue.settings.retention > self.now():
            return False
        queue.remove(message)
        self._note("expired", queue.settings.name, message.id, f"kept for {queue.settings.retention:g} s")
        return True

    def _is_dead(self, queue: Queue, message: Stored) -> bool:
        redrive = queue.settings.redrive
        if redrive is None or message.receives < redrive.after:
            return False
        queue.remove(message)
        message.gone, message.receipt, message.source_arn = False, None, queue.settings.arn
        target = self.queue(redrive.to)
        if target.settings.fifo:  # a FIFO dead-letter queue counts its retention anew, a standard one does not
            message.sent_at, message.deduplication = self.now(), message.id
        self.all[message.id] = (target, message)
        target.put(message)
        self._note("dead-lettered", redrive.to, message.id, f"after {message.receives} receives")
        return True

    def _received(self, queue: Queue, receipt: str) -> Stored:
        name, message = self._receipts.get(receipt, ("", None))
        if message is None or name != queue.settings.name:
            raise bad_receipt(receipt)
        return message

    def _check_handle(self, queue: Queue, message: Stored, receipt: str) -> None:
        """Refuse an expired handle of a FIFO queue."""
        if queue.settings.fifo and not (message.receipt == receipt and message.in_flight(self.now())):
            raise invalid_value(receipt, "ReceiptHandle", "The receipt handle has expired.")

    def _new_id(self) -> str:
        digits = f"{self._ids.getrandbits(128):032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
