"""Have moto's queues hold thousands of messages, and say from where a dead letter came.

moto looks at each message of a queue at each receive, delete and change of visibility. Here messages are found by their receipt handles,
and those that can be received are kept apart from the hidden ones.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from itertools import count
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from moto.core.responses import ActionResult
from moto.core.utils import unix_time, unix_time_millis
from moto.sqs import models
from moto.sqs.exceptions import InvalidParameterValue, ReceiptHandleIsInvalid
from moto.sqs.models import Message, Queue, SQSBackend
from moto.sqs.responses import SQSResponse

SOURCE = "DeadLetterQueueSourceArn"

LONGEST_HIDDEN = 43_200
"""Seconds for which a message is hidden at most (ChangeMessageVisibility)."""

_AT_ONCE = 10  # messages that are looked for together: the most of one receive
_PAUSE = 0.05  # seconds between two looks at a queue whose visible messages are all held back

_received = WeakValueDictionary[str, Message]()
"""The messages of all queues, by each receipt handle that they had."""

_stored = WeakKeyDictionary[Message, "Stored"]()
"""Where each message is."""

_mark_received, _receive = Message.mark_received, SQSResponse.receive_message
_change = SQSBackend.change_message_visibility


class Stored:
    """The messages of a queue, in the order in which they were sent: those that can be received, and those that cannot yet, by time.

    Args:
        messages: The first ones.
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._lock, self._next = Lock(), count()
        self._messages, self._numbers = dict[int, Message](), dict[int, int]()
        self._ready = list[int]()  # numbers of messages
        self._hidden, self._delayed = list[tuple[float, int]](), list[tuple[float, int]]()  # heaps of when which is due
        for each in messages:
            self.append(each)

    def __iter__(self) -> Iterator[Message]:
        """Iterate over all messages, also while others come and go."""
        return iter(list(self._messages.values()))

    def __len__(self) -> int:
        return len(self._messages)

    def __contains__(self, message: object) -> bool:
        return id(message) in self._numbers

    def append(self, message: Message) -> None:
        """Add a message behind the others."""
        with self._lock:
            number = self._numbers[id(message)] = next(self._next)
            self._messages[number] = message
            _stored[message] = self
            if message.delayed:
                heappush(self._delayed, (message.delayed_until, number))
            else:
                self._ready.append(number)

    def remove(self, message: Message) -> None:
        """Remove a message.

        Raises:
            KeyError: It is not here.
        """
        with self._lock:
            number = self._numbers.pop(id(message))
            del self._messages[number]
            self._leave_ready(number)

    def move(self, message: Message) -> None:
        """Put a message where it belongs now, because it was received or its visibility was changed."""
        with self._lock:
            number = self._numbers[id(message)]
            if message.visible:
                self._make_ready(number)
            else:
                self._leave_ready(number)
                heappush(self._hidden, (message.visible_at, number))

    def counts(self) -> tuple[int, int, int]:
        """Return how many messages can be received, are hidden, and are delayed."""
        with self._lock:
            self._promote()
            ready, delayed = len(self._ready), len(self._delayed)
            return ready, len(self._messages) - ready - delayed, delayed

    def available(self) -> Iterator[Message]:
        """Yield the messages that can be received, in their order; a receive may hide them meanwhile."""
        found = self._available_after(-1)
        while found:
            yield from (message for _, message in found)
            found = self._available_after(found[-1][0])

    def _available_after(self, last: int) -> list[tuple[int, Message]]:
        with self._lock:
            self._promote()
            place = bisect_right(self._ready, last)
            return [(number, self._messages[number]) for number in self._ready[place : place + _AT_ONCE]]

    def _promote(self) -> None:
        """Make ready what is due."""
        now = unix_time_millis()
        for waiting in (self._hidden, self._delayed):
            while waiting and waiting[0][0] < now:
                number = heappop(waiting)[1]
                message = self._messages.get(number)
                if message is not None and message.visible:  # else it is gone, or hidden anew for longer
                    self._make_ready(number)

    def _make_ready(self, number: int) -> None:
        place = bisect_left(self._ready, number)
        if self._ready[place : place + 1] != [number]:
            self._ready.insert(place, number)

    def _leave_ready(self, number: int) -> None:
        place = bisect_left(self._ready, number)
        if self._ready[place : place + 1] == [number]:
            del self._ready[place]


class Available:
    """The messages of a queue that can be received, as moto asks for them."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored

    def __iter__(self) -> Iterator[Message]:
        return self._stored.available()

    def __len__(self) -> int:
        return self._stored.counts()[0]


class DeepQueue(Queue):
    """A queue of moto whose receives, deletes and changes of visibility cost the same whatever it holds."""

    _stored: Stored

    @property  # type: ignore[override]  # moto has a list here, and a property below
    def _messages(self) -> Stored:
        return self._stored

    @_messages.setter
    def _messages(self, messages: list[Message]) -> None:
        self._stored = Stored(messages)

    @property
    def messages(self) -> Available:  # type: ignore[override]  # as above
        """Return the messages that can be received."""
        return Available(self._stored)

    @property
    def approximate_number_of_messages_delayed(self) -> int:
        """Return how many messages are delayed."""
        return self._stored.counts()[2]

    @property
    def approximate_number_of_messages_not_visible(self) -> int:
        """Return how many messages are in flight."""
        return self._stored.counts()[1]

    @property
    def pending_message_groups(self) -> set[str]:
        """Return the groups of a FIFO queue of which messages are in flight."""
        return super().pending_message_groups if self.fifo_queue else set()

    def add_message(self, message: Message) -> None:
        """Add a message, which is a dead letter where it was in another queue before."""
        message.dead_letter_source = getattr(message, "home", None)  # type: ignore[attr-defined]  # ours
        message.home = self.queue_arn  # type: ignore[attr-defined]  # ours
        super().add_message(message)

    def delete_message(self, receipt_handle: str) -> None:
        """Delete a message by any of its receipt handles; a second time does nothing.

        Raises:
            ReceiptHandleIsInvalid: No message had it.
        """
        if receipt_handle not in self.deleted_messages:
            message = self.received(receipt_handle)
            self._stored.remove(message)
            self.pending_messages.discard(message)
            self.deleted_messages.update(filter(None, message.all_receipt_handles))

    def received(self, receipt_handle: str) -> Message:
        """Return the message that had a receipt handle.

        Raises:
            ReceiptHandleIsInvalid: No message of this queue had it.
        """
        message = _received.get(receipt_handle)
        if message is None or message not in self._stored:
            raise ReceiptHandleIsInvalid
        return message

    def wait_for_messages(self, timeout: float) -> None:
        """Wait until a long poll should look again; moto's own keeps a core busy where a FIFO group holds back all that is visible."""
        with self._messages_lock:  # what moto notifies when a message is sent
            self._messages_lock.wait(_PAUSE if self.messages else timeout)


def note_received(message: Message, visibility_timeout: int | None = None) -> None:
    """Mark a message as received, and note its new receipt handle."""
    _mark_received(message, visibility_timeout)
    _received[str(message.receipt_handle)] = message
    if (stored := _stored.get(message)) is not None:
        stored.move(message)


def change_visibility(broker: SQSBackend, queue_name: str, receipt_handle: str, visibility_timeout: int) -> None:
    """Change for how long a message is hidden.

    Raises:
        ReceiptHandleIsInvalid: No message of the queue had the receipt handle.
        InvalidParameterValue: It would be hidden for more than 12 hours in total.
    """
    queue = broker.get_queue(queue_name)
    if not isinstance(queue, DeepQueue):  # it was made before
        _change(broker, queue_name, receipt_handle, visibility_timeout)
        return
    message, seconds = queue.received(receipt_handle), int(visibility_timeout)
    if unix_time_millis() + seconds * 1000 - int(str(message.sent_timestamp)) > LONGEST_HIDDEN * 1000:
        raise InvalidParameterValue(
            f"Value {seconds} for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the message is beyond the limit "
            f"[{LONGEST_HIDDEN} seconds]"
        )
    message.change_visibility(seconds)
    if message.visible:
        queue.pending_messages.discard(message)
    queue._messages.move(message)  # noqa: SLF001  # moto's name


def is_retained(broker: SQSBackend, queue_name: str, message: Message) -> bool:
    """True while a queue keeps a message; moto's own counts all messages of the queue for each one that it hands out."""
    kept: float = broker.get_queue(queue_name).message_retention_period  # type: ignore[attr-defined]  # set by name
    return message.sent_timestamp / 1000 + kept > unix_time()  # type: ignore[operator]  # it was sent


def receive(response: SQSResponse) -> ActionResult:
    """Answer a receive as moto does, with the queue from which a dead letter came, as SQS says it."""
    answer = _receive(response)
    found: Any = answer.result
    names = {name for key in ("AttributeNames", "MessageSystemAttributeNames") for name in response._get_param(key, [])}  # noqa: SLF001  # moto's name
    for each in found.get("Messages", []) if names & {"All", SOURCE} else []:
        source = getattr(_received.get(each["ReceiptHandle"]), "dead_letter_source", None)
        if source is not None:
            each.setdefault("Attributes", {})[SOURCE] = source
    return answer


def use_deep_queues() -> None:
    """Have moto make deep queues in this process, from now on."""
    replaced: list[tuple[Any, str, Callable[..., Any]]] = [
        (models, "Queue", DeepQueue),
        (Message, "mark_received", note_received),
        (SQSBackend, "change_message_visibility", change_visibility),
        (SQSBackend, "is_message_valid_based_on_retention_period", is_retained),
        (SQSResponse, "receive_message", receive),
    ]
    for owner, name, ours in replaced:
        setattr(owner, name, ours)
